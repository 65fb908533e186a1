"""Automatic kernels: as wide as the data are, smooth on numbers, equal-or-not on categories."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.agents.cme_rl.default_kernels import automatic_kernel, automatic_value_kernel, seen_spread, state_kernel
from cmerl.agents.cme_rl.settings import KernelSettings
from cmerl.kernels import RBF, Delta, Hamming
from cmerl.spaces import StateSpace

KERNELS = KernelSettings()


def test_columns_without_sensible_bounds_are_measured_in_what_was_seen():
    wide, line = 1e6, np.linspace(0.0, 1.0, 201)
    low, high = np.array([-np.inf, -wide, 0.0, 0.0, 0.0]), np.array([np.inf, wide, 1.0, np.inf, 1.0])
    states = StateSpace.of(spaces.Box(low, high, dtype=np.float64))
    raw = np.column_stack([64 * line, line, line, np.full(201, 5.0), 16 * line])
    spread = seen_spread(states, states.encode_many(raw), KERNELS.sensible)
    # what was seen, without a percent at either end and rounded to powers of √2; a constant column has no width
    assert spread[0] == 64.0
    assert spread[1] * 2 * wide == pytest.approx(0.98, rel=0.2)
    assert spread[2:].tolist() == [1.0, 1.0, 16.0]  # the last one leaves its bounds far behind


def test_a_single_outlier_does_not_set_the_scale():
    states = StateSpace.of(spaces.Box(-np.inf, np.inf, (1,), np.float64))
    rows = np.linspace(-1.0, 1.0, 500)[:, None]
    spread = seen_spread(states, rows, KERNELS.sensible)
    rows[3] = 1e9
    assert seen_spread(states, rows, KERNELS.sensible) == spread


def test_units_do_not_matter_where_bounds_are_missing():
    class Units(gymnasium.ObservationWrapper):
        def __init__(self, env, factor):
            super().__init__(env)
            self.factor = factor
            self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)

        def observation(self, obs):
            return np.asarray(obs, dtype=np.float64) * self.factor

    def returns(factor):
        env = Units(gymnasium.make("cmerl/PBall2D-v0"), factor)
        return [round(r.ret, 6) for r in CMERL(env, horizon=10, seed=0).learn(4).history]

    assert returns(1.0) == returns(2.0**20)


def test_categories_multiply_the_smooth_kernel():
    space = spaces.Dict({"n": spaces.Discrete(3), "x": spaces.Box(0.0, 1.0, (2,), np.float64)})
    states = StateSpace.of(space)
    k = state_kernel(RBF, 0.2, states, np.ones(3), KERNELS)
    X = states.encode_many([{"n": n, "x": np.array([x, 0.5])} for n, x in [(0, 0.1), (0, 0.3), (1, 0.1)]])
    near = np.exp(-0.5)
    np.testing.assert_allclose(k(X), [[1.0, near, 0.0], [near, 1.0, 0.0], [0.0, 0.0, 1.0]], atol=1e-12)
    value = automatic_value_kernel(states, np.ones(3), KERNELS)
    assert value(X)[0, 2] == 0.0
    assert 0.1 < value(X)[0, 1] < 1.0


def test_many_categories_are_compared_one_by_one_unless_there_is_nothing_else():
    space = spaces.Tuple((spaces.MultiBinary(10), spaces.Box(0.0, 1.0, (1,), np.float64)))
    states = StateSpace.of(space)
    k = state_kernel(RBF, 0.1, states, np.ones(11), KERNELS)
    a, b = np.zeros(10), np.array([1.0] * 3 + [0.0] * 7)
    X = states.encode_many([(a, [0.5]), (b, [0.5])])
    np.testing.assert_allclose(k(X)[0, 1], 0.7)
    assert isinstance(state_kernel(RBF, 0.1, StateSpace.of(space[0]), np.ones(10), KERNELS), Delta)
    assert Hamming()(X[:, :10])[0, 1] == pytest.approx(0.7)


def test_continuous_actions_share_half_at_most_with_those_far_away():
    states = StateSpace.of(spaces.Box(0.0, 1.0, (1,)))
    near_and_far = np.array([[0.5, 0.0], [0.5, 0.1], [0.5, 1.0]])
    smooth = automatic_kernel(0.9, states, np.ones(1), RBF(0.25), 1, KERNELS)(near_and_far[:1], near_and_far)[0]
    np.testing.assert_allclose(smooth, [1.0, 0.5 + 0.5 * np.exp(-0.08), 0.5], atol=1e-3)
    names = automatic_kernel(0.9, states, np.ones(1), Delta(), 1, KERNELS)(near_and_far[:1], near_and_far)[0]
    np.testing.assert_allclose(names, [1.0, 0.9, 0.9])


def test_more_columns_get_a_wider_kernel():
    eight = StateSpace.of(spaces.Box(0.0, 1.0, (8,)))
    assert state_kernel(RBF, 0.1, eight, np.ones(8), KERNELS) == RBF(0.2)
