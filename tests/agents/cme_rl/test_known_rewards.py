"""A reward function that the user knows, of (obs, action) and of (obs, action, next_obs), with every model."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.envs import FiniteMDP
from cmerl.errors import InputError

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
    for episodes in (30, 1000):
        told = []
        for reward in (lambda s, a: MEAN[s, a], by_transition, "learned"):
            agent = CMERL(finite(), seed=1, reward=reward, reward_range=(0.0, 1.0), replan=False)
            batch = play_uniformly(episodes)
            agent.fit(batch)
            told.append(
                [[agent.policy(explore=False).plan.q(state(agent, s), h)[0] for s in range(S)] for h in range(H)]
            )
        gaps.append([np.abs(np.array(told[i]) - told[2]).max() for i in (0, 1)])
    assert np.all(np.array(gaps[1]) < 0.05)
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
