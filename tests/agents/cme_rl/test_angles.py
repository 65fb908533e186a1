"""Angles that an agent finds by itself."""

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.agents import Settings


class Rotor(gymnasium.Env):
    """A wheel that is pushed and seen by its angle, within [0, 2π) or without end; standing at 0 pays."""

    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, *, wraps=True):
        self.wraps = wraps
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def seen(self):
        angle, speed = self.state
        return np.array([np.mod(angle, 2.0 * np.pi) if self.wraps else angle, speed])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([np.pi, self.np_random.choice([-6.0, 6.0])])
        return self.seen(), {}

    def step(self, action):
        angle, speed = self.state
        speed = 0.98 * speed + 0.8 * float(action[0])
        self.state = np.array([angle + 0.1 * speed, speed])
        return self.seen(), float(np.cos(self.state[0])), False, False, {}


@pytest.fixture
def env():
    return Rotor()


QUICK = {"horizon": 60, "model": "direct"}  # a search takes longer, and finds angles no better


def taught(env, episodes=6, **options):
    """An agent that has learned episodes of random play, in both directions."""
    agent = cmerl.CMERL(env, seed=0, **(QUICK | options))
    return agent.fit([played(env, seed) for seed in range(episodes)])


def played(env, seed):
    rng = np.random.default_rng(seed)
    observations, actions, rewards = [env.reset(seed=seed)[0]], rng.uniform(-1.0, 1.0, (60, 1)), []
    for action in actions:
        obs, reward, *_ = env.step(action)
        observations.append(obs)
        rewards.append(reward)
    return {"observations": np.array(observations), "actions": actions, "rewards": rewards, "terminated": False}


@pytest.mark.parametrize("wraps", [True, False])
def test_an_agent_finds_the_angle_and_says_so(wraps, caplog):
    with caplog.at_level("INFO", logger="cmerl"):
        agent = cmerl.CMERL(Rotor(wraps=wraps), seed=0, **QUICK).learn(5)
    assert agent.states.describe().endswith("1 angle")
    assert "angles={0: 6.28319}" in caplog.text
    turned = agent.states.encode(np.array([0.5 + 2.0 * np.pi, 1.0]))
    np.testing.assert_allclose(turned, agent.states.encode(np.array([0.5, 1.0])), atol=1e-12)
    assert np.isfinite(agent.learn(1).history[-1].ret)


@pytest.mark.parametrize("model", ["direct", "displacement"])
def test_what_was_learned_is_what_it_would_have_been_with_the_angle_from_the_start(env, model):
    found, told = taught(env, model=model), taught(env, model=model, angles=[0])
    assert found.states.describe() == told.states.describe()
    ours, theirs = found.transitions(), told.transitions()
    np.testing.assert_allclose(ours.observations, [[np.mod(x, 2.0 * np.pi), v] for x, v in theirs.observations])
    obs = np.array([3.0, 1.0])
    np.testing.assert_allclose(found.q_values(obs), told.q_values(obs), rtol=1e-3)


def test_a_loaded_agent_goes_on_bit_for_bit(env, tmp_path):
    agent = taught(env)
    assert agent.states.columns.angle.any()
    agent.save(tmp_path / "agent")
    loaded = cmerl.CMERL.load(tmp_path / "agent", env=Rotor())
    np.testing.assert_array_equal(loaded.states.columns.origin, agent.states.columns.origin)
    assert loaded.learn(1).history[-1].ret == agent.learn(1).history[-1].ret


def test_a_reward_function_is_asked_at_angles_as_they_are_seen(env):
    seen = []

    def reward(obs, action, next_obs):
        seen.append(np.atleast_2d(obs)[:, 0])
        return np.cos(np.asarray(next_obs)[..., 0])

    agent = taught(env, reward=reward, model="displacement")
    assert agent.states.columns.angle.any()
    seen.clear()
    agent.policy()(np.array([3.0, 1.0]), 0)
    angles = np.concatenate(seen)
    assert angles.min() >= 0.0
    assert np.pi < angles.max() <= 2.0 * np.pi


def test_a_policy_from_before_goes_on_as_it_was(env):
    agent = cmerl.CMERL(env, seed=0, **QUICK)
    policy = agent.policy()
    before = policy(np.array([1.0, 2.0]), 3)
    agent.fit([played(env, seed) for seed in range(6)])
    assert agent.states.columns.angle.any()
    np.testing.assert_array_equal(policy(np.array([1.0, 2.0]), 3), before)


@pytest.mark.parametrize("options", [{"settings": Settings(find_angles=False)}, {"kernel": cmerl.kernels.RBF(0.2)}])
def test_nothing_is_looked_for_where_it_is_switched_off_or_a_kernel_is_given(env, options):
    assert not taught(env, **options).states.columns.angle.any()
