"""A reward function that the user knows, of (obs, action) and of (obs, action, next_obs), with every model."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.embedding import DisplacementEmbedding
from cmerl.envs import FiniteMDP, PilcoCartPole
from cmerl.errors import InputError
from cmerl.rewards import KnownReward
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Transitions

S, A, H = 4, 2, 5
RNG = np.random.default_rng(7)
P = RNG.dirichlet(np.ones(S), size=(S, A))
PAID = RNG.uniform(0.0, 1.0, (S, A, S))  # for every transition
MEAN = np.einsum("sat,sat->sa", P, PAID)


def by_transition(state, action, next_state):
    return PAID[state, action, next_state]


class Counts(gymnasium.Wrapper):
    """Counts transitions, beside the agent."""

    def __init__(self, env):
        super().__init__(env)
        self.seen = np.zeros((S, A, S))

    def reset(self, **options):
        self.now, info = super().reset(**options)
        return self.now, info

    def step(self, action):
        step = super().step(action)
        self.seen[self.now, action, step[0]] += 1
        self.now = step[0]
        return step


def state(agent, s):
    return agent.states.encode(s)


def finite(pays=MEAN):
    return Counts(FiniteMDP(P, pays, start=0, horizon=H))


def optimistic_q(counts, paid, lam, ceiling):
    """Q (H, S, A) by hand: λ prior visits worth the most that is left, and the mean of what was seen."""
    N = counts.sum(axis=2)
    q, v = np.zeros((H, S, A)), np.zeros(S)
    for step in reversed(range(H)):
        seen = np.einsum("sat,sat->sa", counts, paid + v)
        q[step] = (seen + lam * ceiling * (H - step)) / (N + lam)
        v = np.minimum(q[step].max(axis=1), ceiling * (H - step))
    return q


def test_a_reward_of_the_next_state_is_integrated_through_the_embedding_exactly():
    """The environment pays nothing: all that is planned for is the function, averaged over what was seen."""
    env = finite(np.zeros((S, A)))
    agent = CMERL(env, seed=0, reward=by_transition, reward_range=(0.0, 1.0), lam=0.1, replan=False).learn(30)
    expected = optimistic_q(env.seen, PAID, 0.1, 1.0)
    found = [[agent.q_values(s, step) for s in range(S)] for step in range(H)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert all(record.ret == 0.0 for record in agent.history)  # returns are the environment's


def test_a_given_reward_is_the_learned_one_in_the_limit():
    """Three agents with one law: told the mean, told every transition, told nothing; they differ as 1/N."""
    gaps = []
    for episodes in (20, 400):
        told = []
        for reward in (lambda s, a: MEAN[s, a], by_transition, "learned"):
            agent = CMERL(finite(), seed=1, reward=reward, reward_range=(0.0, 1.0), replan=False)
            batch = play_uniformly(episodes)
            agent.fit(batch)
            told.append(
                [[agent.policy(explore=False).plan.q(state(agent, s), h)[0] for s in range(S)] for h in range(H)]
            )
        gaps.append([np.abs(np.array(told[i]) - told[2]).max() for i in (0, 1)])
    assert np.all(np.array(gaps[1]) < [0.01, 0.15])  # the latter has the luck of the next states in it
    assert np.all(np.array(gaps[1]) < np.array(gaps[0]))


def play_uniformly(episodes):
    """Logs of a uniform policy, paying the mean; the same for all."""
    env, rng = FiniteMDP(P, MEAN, start=0, horizon=H), np.random.default_rng(3)
    logs = []
    for seed in range(episodes):
        observations, actions, rewards = [env.reset(seed=seed)[0]], [], []
        for _ in range(H):
            actions.append(int(rng.integers(A)))
            observation, reward, *_ = env.step(actions[-1])
            observations.append(observation)
            rewards.append(reward)
        logs.append({"observations": observations, "actions": actions, "rewards": rewards, "terminated": False})
    return logs


STATES = StateSpace.of(PilcoCartPole().observation_space)
ACTIONS = ActionSet.of(PilcoCartPole().action_space)


def played(reward, episodes=4):
    """Transitions of random forces on a cart-pole, encoded, that pay what a function says."""
    rng, rows = np.random.default_rng(0), []
    env = PilcoCartPole()
    for seed in range(episodes):
        obs, _ = env.reset(seed=seed)
        for _ in range(40):
            which = int(rng.integers(len(ACTIONS)))
            action = ACTIONS.values[which]
            later, *_ = env.step(action)
            z = np.hstack([STATES.encode(obs)[0], ACTIONS.rows[which]])
            rows.append((z, STATES.encode(later)[0], float(reward(obs, action, later)), False))
            obs = later
    Z, next_states, rewards, ended = zip(*rows, strict=True)
    return Transitions.of(np.array(Z), np.array(next_states), rewards, ended)


def displacement(reward, *, given):
    known = KnownReward(reward, STATES, ACTIONS) if given else None
    model = DisplacementEmbedding(ACTIONS.rows, categorical=False, reward=None if known is None else known.of)
    model.update(played(reward))
    return model


@pytest.fixture(scope="module")
def cart_pole():
    return displacement(PilcoCartPole.reward, given=True)


def some_transitions(model, n=50):
    rng = np.random.default_rng(1)
    return model.data.Z[rng.integers(len(model.data), size=n), : STATES.dims], rng.integers(len(ACTIONS), size=n)


def decoded(states, which):
    return np.array(STATES.decode(states)), np.array([ACTIONS.values[i] for i in which])


def test_a_displacement_pays_what_the_function_says_of_where_it_leads(cart_pole):
    states, which = some_transitions(cart_pole)
    later, paid, _ = cart_pole.step(states, which)
    expected = PilcoCartPole.reward(*decoded(states, which), np.array(STATES.decode(later)))
    np.testing.assert_allclose(paid, expected, rtol=1e-6, atol=1e-12)
    assert np.ptp(paid) > 1e-4


def test_an_action_that_is_held_pays_the_sum(cart_pole):
    states, _ = some_transitions(cart_pole, 5)
    _, sums, _ = cart_pole.view.dynamics.hold(cart_pole.view.scaled(states), 3)
    for a in range(len(ACTIONS)):
        now, total = states, np.zeros(len(states))
        for _ in range(3):
            now, paid, _ = cart_pole.step(now, np.full(len(now), a))
            total += paid
        np.testing.assert_allclose(sums[a], total, rtol=1e-2, atol=1e-9)  # plans read states in single precision


def test_a_search_reads_the_function_too(cart_pole):
    view = cart_pole.view
    states, which = some_transitions(cart_pole)
    x, a = view.scaled(states), view.actions[which]
    quick = view.dynamics.quick_step(x.astype(np.float32), a.astype(np.float32))
    np.testing.assert_allclose(quick[1], view.dynamics.step(x, a)[1], rtol=1e-2, atol=1e-6)
    lo, hi = view.dynamics.reward_bounds
    assert lo == pytest.approx(0.0, abs=1e-3)
    assert hi > 2 * cart_pole.data.rewards.max()  # what upright pays is known before it was seen


def test_with_a_displacement_a_learned_reward_comes_near_the_given_one():
    """A reward that is smooth in the state: both pay nearly the same for the same steps."""

    def smooth(obs, action, next_obs):
        return 0.5 * obs[..., 2] - 0.001 * np.square(np.asarray(action)[..., 0])

    for given, tolerance in ((True, 1e-6), (False, 0.02)):
        model = displacement(smooth, given=given)
        states, which = some_transitions(model)
        expected = smooth(*decoded(states, which), None)
        np.testing.assert_allclose(model.step(states, which)[1], expected, atol=tolerance)


def test_an_agent_follows_the_function_and_goes_on_with_it_when_loaded(tmp_path):
    """Told to hang, not to stand: the environment's own reward is only reported."""

    def hang(obs, action, next_obs):
        return 1.0 - PilcoCartPole.reward(obs, action, next_obs)

    agent = CMERL(PilcoCartPole(), horizon=12, seed=0, reward=hang, model="displacement").learn(2)
    assert agent.reward_range == pytest.approx((0.0, 1.0), abs=1e-6)
    assert agent.history[-1].ret < 1.0
    promised = agent.policy(explore=False).plan.value(agent.states.encode([0.0, 0.0, -1.0, 0.0, 0.0]), 0)[0]
    assert promised == pytest.approx(12.0, rel=0.02)  # 1 a step
    agent.save(tmp_path / "agent")
    loaded = CMERL.load(tmp_path / "agent", env=PilcoCartPole(), reward=hang)
    assert loaded.learn(1).history[-1].ret == agent.learn(1).history[-1].ret


def test_what_cannot_be_known_is_refused():
    with pytest.raises(InputError, match=r"proves nothing .* next observation"):
        CMERL(finite(), bonus="nonnegative", reward=by_transition, reward_range=(0.0, 1.0))
    with pytest.raises(InputError, match=r"\(observation, action\) or \(observation, action, next observation\)"):
        CMERL(finite(), reward=lambda state: 0.0)


class Coded(gymnasium.Env):
    """Observations of two kinds, for which a function is asked one by one."""

    observation_space = spaces.Dict({"room": spaces.Discrete(3), "heat": spaces.Box(0.0, 1.0, (1,), np.float64)})
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.now = {"room": 0, "heat": np.array([0.5])}
        return self.now, {}

    def step(self, action):
        self.now = {"room": (self.now["room"] + action) % 3, "heat": self.np_random.uniform(0, 1, 1)}
        return self.now, 0.0, False, False, {}


def test_observations_of_parts_are_shown_as_they_are():
    def reward(obs, action, next_obs):
        return float(next_obs["room"] == 2) + float(next_obs["heat"][0]) / 10

    agent = CMERL(Coded(), horizon=6, seed=0, reward=reward, reward_range=(0.0, 1.1)).learn(20)
    assert agent.predict({"room": 1, "heat": np.array([0.5])}, explore=False) == 1
    assert agent.predict({"room": 2, "heat": np.array([0.5])}, explore=False) == 0
