"""Simulation steps: regressions, terminations, and discounted sums along sequences."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.searching.simulator import Ends, Regression, Simulator, quick_exponential, roll, stacked_kernels
from cmerl.searching.values import rbf

RNG = np.random.default_rng(0)
CENTRES, COEF = RNG.normal(size=(5, 2)), RNG.normal(size=(5, 3))
LENGTHSCALES = np.array([0.8, 1.7])


def exponents(centres: np.ndarray, lengthscales: np.ndarray) -> np.ndarray:
    """−½Σ((x − c)/ℓ)² as coefficients of [x², x, 1]."""
    precision = 1.0 / lengthscales**2
    square = np.repeat(-0.5 * precision[:, None], len(centres), axis=1)
    linear = (centres * precision).T
    return np.vstack([square, linear, -0.5 * np.sum(centres**2 * precision, axis=1)])


def kernels(X: np.ndarray) -> np.ndarray:
    gaps = (X[:, None] - CENTRES) / LENGTHSCALES
    return np.asarray(np.exp(-0.5 * np.square(gaps).sum(axis=2)))


def regression(coef: np.ndarray, mean: np.ndarray, origin: np.ndarray) -> Regression:
    W = exponents(CENTRES - origin, LENGTHSCALES).astype(np.float32)
    return Regression(W, coef.astype(np.float32), origin.astype(np.float32), mean.astype(np.float32))


def test_the_quick_exponential_is_the_exponential() -> None:
    function, factor = quick_exponential()
    x = np.linspace(-20.0, 0.0, 9, dtype=np.float32)
    np.testing.assert_allclose(function(factor * x), np.exp(x), rtol=1e-5)


def test_stacked_kernels_are_rbf_kernels() -> None:
    X = RNG.normal(size=(4, 2))
    W = exponents(CENTRES, LENGTHSCALES)
    np.testing.assert_allclose(stacked_kernels(X, W), kernels(X), rtol=1e-9)
    assert stacked_kernels(X, W, np.float32).dtype == np.float32


def test_no_kernel_is_a_subnormal_number() -> None:
    """They take many times as long, and there are many where a lengthscale is short."""
    far = np.linspace(13.0, 20.0, 9)[:, None]
    W = np.array([[-0.5], [0.0], [0.0]])  # exp(−½x²)
    assert stacked_kernels(far, W, exp=np.float32).min() >= np.finfo(np.float32).tiny
    assert rbf(far, np.zeros((1, 1), dtype=np.float32)).min() >= np.finfo(np.float32).tiny
    ones, none = np.ones((1, 1), dtype=np.float32), np.zeros(1, dtype=np.float32)
    regression = Regression(W.astype(np.float32), 1e30 * ones, none, none)
    assert 0.0 < regression(far.astype(np.float32)).min() < 1e-5


def test_a_regression_is_its_mean_and_a_sum_of_kernels_from_any_origin() -> None:
    X, mean = RNG.normal(size=(7, 2)), np.array([1.0, -2.0, 0.5])
    for origin in (np.zeros(2), np.array([0.3, -1.0])):
        found = regression(COEF, mean, origin)(X.astype(np.float32))
        np.testing.assert_allclose(found, mean + kernels(X) @ COEF, atol=1e-4)
    nothing = Regression(np.zeros((5, 0), np.float32), np.zeros((0, 3), np.float32), np.zeros(2, np.float32), mean)
    np.testing.assert_array_equal(nothing(X), np.tile(mean, (7, 1)))


def corner(lower: list[float], upper: list[float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(lower), np.array(upper)


def test_an_episode_ends_beyond_a_limit_and_pays_what_the_nearest_end_did() -> None:
    ended, alive = np.array([[2.0, 0.0], [3.0, 9.0]]), np.zeros((1, 2))
    # outside is what is below neither bound: x above 1.5, whatever the second column
    ends = Ends(ended, np.array([-1.0, 4.0]), alive, [corner([np.nan, np.nan], [1.5, np.nan])])
    over, rewards = ends(np.array([[1.4, 0.0], [1.6, 0.5], [7.0, 8.0]]))
    np.testing.assert_array_equal(over, [False, True, True])
    np.testing.assert_array_equal(rewards[over], [-1.0, 4.0])


def test_without_a_limit_the_nearest_state_decides() -> None:
    ended, alive = np.array([[1.0], [5.0]]), np.array([[0.0], [3.0]])
    ends = Ends(ended, np.array([7.0, 8.0]), alive, None)
    over, rewards = ends(np.array([[0.4], [0.6], [1.9], [2.1], [4.1]]))
    np.testing.assert_array_equal(over, [False, True, True, False, True])
    np.testing.assert_array_equal(rewards[over], [7.0, 7.0, 8.0])


def test_a_step_moves_by_the_regression_within_bounds_and_pays_within_what_was_seen() -> None:
    one = np.ones((1, 1), np.float32)

    def constant(values: list[float], d: int) -> Regression:
        mean = np.array(values, np.float32)
        return Regression(np.zeros((2 * d + 1, 0), np.float32), np.zeros((0, len(values)), np.float32), one[0], mean)

    spread, bounds, pays = np.array([2.0], np.float32), np.array([5.0], np.float32), (np.float32(-1), np.float32(0.5))
    simulator = Simulator(constant([0.5], 2), constant([9.0], 2), False, spread, bounds, pays, None)
    y, r, over = simulator(np.array([[0.0], [4.5]], np.float32), np.zeros((2, 1), np.float32))
    np.testing.assert_array_equal(y, [[1.0], [5.0]])
    np.testing.assert_array_equal(r, [0.5, 0.5])
    assert over is None


@pytest.mark.parametrize("at_next", [False, True])
def test_a_reward_may_belong_to_where_a_step_leads(at_next: bool) -> None:
    step = Regression(np.zeros((5, 0), np.float32), np.zeros((0, 1), np.float32), np.zeros(2, np.float32), np.ones(1))
    reward = regression(COEF[:, :1], np.zeros(1), np.zeros(2))
    wide = np.array([9.0], np.float32), (np.float32(-99), np.float32(99))
    simulator = Simulator(step, reward, at_next, np.ones(1, np.float32), *wide, None)
    x, a = np.array([[0.2]], np.float32), np.array([[-0.4]], np.float32)
    place = 1.2 if at_next else 0.2
    _, r, _ = simulator(x, a)
    np.testing.assert_allclose(r, kernels(np.array([[place, -0.4]])) @ COEF[:, 0], atol=1e-5)


def test_rewards_along_a_sequence_are_discounted_and_stop_at_an_end() -> None:
    def step(x: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = x + a
        return y, y[:, 0], y[:, 0] > 2.5

    sequences = np.array([[[1.0], [1.0], [1.0]], [[2.0], [2.0], [5.0]]], np.float32)
    total, y, over = roll(step, np.zeros((2, 1), np.float32), sequences, 0.5)
    np.testing.assert_allclose(total, [1.0 + 0.5 * 2.0 + 0.25 * 3.0, 2.0 + 0.5 * 4.0])  # the end itself pays
    np.testing.assert_array_equal(over, [True, True])
    np.testing.assert_array_equal(y[:, 0], [3.0, 9.0])
