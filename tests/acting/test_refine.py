"""Actions between the candidates: the surface that is climbed, and its slope."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.acting import Greedy
from cmerl.acting.refine import QSurface
from cmerl.kernels import RBF, Delta, Matern, StateAction


class Steering(gymnasium.Env):
    """Moves a point in the plane by a noisy velocity, which costs; pays for being near a spot."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([-0.2, -0.2])
        return self.state.copy(), {}

    def step(self, action):
        self.state = np.clip(self.state + 0.3 * action + self.np_random.normal(0.0, 0.2, 2), -1.0, 1.0)
        reward = -np.square(self.state - [0.17, 0.06]).sum() - 0.05 * np.square(action).sum()
        return self.state.copy(), float(reward), False, False, {}


TIGHT = {"bonus": "tight", "B_P": 0.1, "B_V": 0.1, "B_R": 0.1, "reward_range": (-4, 0)}


def learned(**options):
    return CMERL(Steering(), horizon=5, seed=0, model="direct", **options).learn(6)


def places(count):
    """States and actions within the data."""
    rng = np.random.default_rng(1)
    return [(rng.uniform(0.35, 0.55, (1, 2)), rng.uniform(-0.9, 0.9, 2)) for _ in range(count)]


@pytest.mark.parametrize(
    "options",
    [
        {"backend": "exact"},
        {"backend": "compressed"},
        {"backend": "nystrom"},
        {"backend": "fourier", "kernel": RBF(0.5)},
        {"backend": "exact", "kernel": StateAction(Matern(1.5, 0.4), RBF(0.6), 2) + 0.3},
        {"backend": "exact", "kernel": lambda X, Y: RBF(0.7)(X, Y)},  # whose gradient is by differences
        {"backend": "exact", "bonus": "sigma"},
        {"backend": "compressed", "bonus": "sigma"},
        {"backend": "exact", "kernel": RBF(5.0), **TIGHT, "reward_range": (-9, 9)},
        {"backend": "exact", "time_homogeneous": False, "bonus": "sigma"},
    ],
    ids=[
        "exact",
        "compressed",
        "nystrom",
        "fourier",
        "parts",
        "function",
        "exact sigma",
        "compressed sigma",
        "tight",
        "stages",
    ],
)
def test_the_slope_is_the_limit_of_differences(options):
    agent, seen = learned(**options), 0
    for state, action in places(12):
        q_surface, h = QSurface(agent.policy().plan, state, 1), 1e-4
        q = q_surface(np.vstack([action, action + h * np.eye(2), action - h * np.eye(2)]))
        if np.isfinite(q).all():
            expected = (q[1:3] - q[3:]) / (2.0 * h)
            np.testing.assert_allclose(q_surface.slope(action), expected, rtol=1e-3, atol=1e-6 * np.abs(q).max())
            seen += np.abs(expected).max() > 1e-3
    assert seen >= 3


@pytest.mark.parametrize("options", [{}, {"bonus": "sigma"}, TIGHT], ids=["practical", "sigma", "tight"])
def test_with_a_direct_embedding_the_height_is_q(options):
    agent = learned(backend="exact", **options)
    for state, _ in places(3):
        q, height = agent.policy().plan.q(state, 2)[0], QSurface(agent.policy().plan, state, 2)(agent.actions.rows)
        np.testing.assert_allclose(q - height, q[0] - height[0], atol=1e-9)


def test_nothing_is_climbed_before_the_first_data():
    first = CMERL(Steering(), horizon=5, seed=0)
    assert any(np.array_equal(first.predict(np.zeros(2)), value) for value in first.actions.values)


class Gliding(gymnasium.Env):
    """Moves a point in the plane by a velocity, which costs; pays for being near a spot."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, noise=0.0):
        self.noise = noise

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([-0.2, -0.2])
        return self.state.copy(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        moved = self.state + 0.3 * action + self.np_random.normal(0.0, self.noise, 2)
        self.state = np.clip(moved, -1.0, 1.0)
        reward = -np.square(self.state - [0.17, 0.06]).sum() - 0.05 * np.square(action).sum()
        return self.state.copy(), float(reward), False, False, {}


class Target(gymnasium.Env):
    """Pays for an action near one that depends on where it stands; the state stays where it is."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = spaces.Box(-3.0, 3.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([0.4]), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return np.array([0.4]), float(np.exp(-((action[0] - 1.1) ** 2))), False, False, {}


@pytest.mark.parametrize("backend", ["exact", "compressed"])
def test_the_action_played_is_better_than_every_candidate_in_the_agents_own_eyes(backend):
    agent = CMERL(Target(), horizon=3, seed=0, backend=backend, reward_range=(0, 1)).learn(12)
    policy = agent.policy(explore=False)
    row = agent.actions.encode(policy(np.array([0.4]), 1))
    q_surface = QSurface(policy.plan, agent.states.encode(np.array([0.4])), 1)
    q = q_surface(np.vstack([row, agent.actions.rows, np.linspace(-1, 1, 401)[:, None]]))
    candidates_q, near = q[1 : 1 + len(agent.actions)], np.abs(np.linspace(-1, 1, 401) - row[0, 0]) < 0.12
    assert q[0] >= candidates_q.max()
    assert q[0] >= q[1 + len(agent.actions) :][near].max() - 1e-3  # brute force around it finds no better
    assert not any(np.array_equal(row[0], candidate) for candidate in agent.actions.rows)


def test_in_two_dimensions_the_action_played_is_as_good_as_brute_force_finds():
    agent = CMERL(Gliding(), horizon=5, seed=0, model="direct", kernel=RBF(0.6)).learn(12)
    policy, better = agent.policy(explore=False), 0
    axis = np.linspace(-1.0, 1.0, 41)
    everywhere = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for obs in np.array([[-0.2, -0.2], [0.0, 0.1], [0.1, -0.1]]):
        q_surface = QSurface(policy.plan, agent.states.encode(obs), 1)
        row = agent.actions.encode(policy(obs, 1))
        q = q_surface(np.vstack([row, agent.actions.rows, everywhere]))
        ours, candidates_q, brute = q[0], q[1 : 1 + len(agent.actions)], q[1 + len(agent.actions) :]
        span, near = np.ptp(brute), np.linalg.norm(everywhere - row, axis=1) < 0.12
        best = candidates_q[policy.plan.act(q_surface.state, 1)[0]]
        assert ours >= best - 1e-6 * span
        assert ours >= brute[near].max() - 0.01 * span
        better += ours > best + 1e-4 * span
    assert better == 3


@pytest.mark.parametrize("world", [Target, Gliding])
def test_a_plan_with_a_displacement_keeps_to_the_candidates(world):
    agent = CMERL(world(), horizon=5, seed=0, model="displacement", actor=Greedy()).learn(4)
    played = agent.policy(explore=False)(agent.env.reset()[0], 1)
    assert any(np.array_equal(played, value) for value in agent.actions.values)


def test_a_kernel_that_tells_actions_apart_is_not_asked_about_others():
    kernel = StateAction(RBF(0.3), Delta())
    agent = CMERL(Target(), horizon=3, seed=0, kernel=kernel, reward_range=(0, 1)).learn(3)
    played = agent.predict(np.array([0.4]))
    assert any(np.array_equal(played, value) for value in agent.actions.values)
