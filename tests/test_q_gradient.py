"""The hill that refinement climbs: its height, and its slope."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.kernels import RBF, Matern, StateAction
from cmerl.q_gradient import KNOWN, Hill


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
    ids=str,
)
def test_the_slope_is_the_limit_of_differences(options):
    agent, seen = learned(**options), 0
    for state, action in places(12):
        hill, h = Hill(agent.policy().plan, state, 1), 1e-4
        q = hill(np.vstack([action, action + h * np.eye(2), action - h * np.eye(2)]))
        if np.isfinite(q).all():
            expected = (q[1:3] - q[3:]) / (2.0 * h)
            np.testing.assert_allclose(hill.slope(action), expected, rtol=1e-3, atol=1e-6 * np.abs(q).max())
            seen += np.abs(expected).max() > 1e-3
    assert seen >= 3


@pytest.mark.parametrize("options", [{}, {"bonus": "sigma"}, TIGHT], ids=["practical", "sigma", "tight"])
def test_with_a_direct_embedding_the_height_is_q(options):
    agent = learned(backend="exact", **options)
    for state, _ in places(3):
        q, height = agent.policy().plan.q(state, 2)[0], Hill(agent.policy().plan, state, 2)(agent.actions.rows)
        np.testing.assert_allclose(q - height, q[0] - height[0], atol=1e-9)


def test_with_a_displacement_the_height_is_what_is_expected_and_hope_does_not_count():
    agent = CMERL(Steering(), horizon=5, seed=0, model="displacement").learn(8)
    plan, rows = agent.policy().plan, agent.actions.rows
    sure = replace(plan, views=[replace(plan.views[0], sure=True)])
    for state in np.array([[[0.4, 0.4]], [[0.55, 0.5]]]):
        heights, known = Hill(plan, state, 1)(rows), 1.0 - plan.views[0].grid(state).std()[0] ** 2
        np.testing.assert_array_equal(np.isfinite(heights), known >= KNOWN)
        constant = (heights - sure.q(state, 1)[0])[known >= KNOWN]
        assert len(constant) > 2
        assert np.ptp(constant) < 1e-4 * np.ptp(sure.q(state, 1))
        assert np.ptp(plan.q(state, 1)[0] - sure.q(state, 1)[0]) > 1e-2  # hope would have counted


def test_the_slope_of_a_displacement_is_that_of_a_small_neighbourhood():
    agent = CMERL(Steering(), horizon=5, seed=0, model="displacement").learn(8)
    hill = Hill(agent.policy().plan, np.array([[0.4, 0.4]]), 1)
    action, arms = np.array([0.1, -0.2]), 0.1 * np.eye(2)
    q = hill._settled(hill._grid(np.vstack([action + arms, action - arms])))[0]
    np.testing.assert_allclose(hill.slope(action), (q[:2] - q[2:]) / 0.2, atol=0.1 * np.abs(hill.slope(action)).max())


def test_nothing_is_climbed_before_the_first_data():
    first = CMERL(Steering(), horizon=5, seed=0)
    assert any(np.array_equal(first.predict(np.zeros(2)), value) for value in first.actions.values)
