"""Terminal values: the lesser of two regressions, less where little is known; and V of a plan."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.kernels import Matern
from cmerl.searching.rbf_features import RBFFeatures
from cmerl.searching.values import PlannedValue, QueryNovelty, TerminalValue, rbf

RNG = np.random.default_rng(0)
LANDMARKS, COEF, SCALES = RNG.normal(size=(6, 2)), RNG.normal(size=(6, 2)), np.array([0.5, 2.0])
SEEN = RNG.normal(size=(4, 2))


def squares(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.asarray(np.square(A[:, None] - B).sum(axis=2))


def value(pessimism: float = 0.0, bounds: tuple[float, float] = (-99.0, 99.0)) -> TerminalValue:
    known = np.linalg.inv(np.exp(-0.5 * squares(SEEN, SEEN)) + 0.1 * np.eye(4))
    novelty = QueryNovelty(RBFFeatures(SEEN), known, 1.5)
    single = [(array).astype(np.float32) for array in (LANDMARKS / SCALES, SCALES, COEF)]
    return TerminalValue(*single, 0.7, bounds, np.array([-3.0, 1.0]), pessimism, novelty)


def test_a_value_is_the_lesser_of_two_regressions_within_bounds() -> None:
    y = RNG.normal(size=(5, 2)).astype(np.float32)
    K = np.exp(-0.5 * squares(y / SCALES, LANDMARKS / SCALES))
    expected = np.array([min(row @ COEF[:, 0], row @ COEF[:, 1]) + 0.7 for row in K])
    np.testing.assert_allclose(value()(y), expected, atol=1e-5)
    np.testing.assert_allclose(value(bounds=(0.0, 0.5))(y), np.clip(expected, 0.0, 0.5), atol=1e-5)


@pytest.mark.parametrize("pessimism", [0.3, 1.0])
def test_where_little_is_known_a_share_of_the_gap_to_the_least_value_is_lost(pessimism: float) -> None:
    y = np.vstack([RNG.normal(size=(4, 2)), [[60.0, 60.0]]]).astype(np.float32)
    k = np.exp(-0.5 * squares(y / 1.5, SEEN))
    A = np.linalg.inv(np.exp(-0.5 * squares(SEEN, SEEN)) + 0.1 * np.eye(4))
    novelty = np.array([1.0 - row @ A @ row for row in k])
    sure = value()(y)
    np.testing.assert_allclose(value(pessimism)(y), sure - pessimism * novelty * (sure + 3.0), atol=1e-4)
    if pessimism == 1.0:
        assert value(pessimism)(y)[-1] == pytest.approx(-3.0, abs=1e-4)  # nothing known: the least value seen


def test_novelty_is_one_far_away_and_less_where_something_was_seen() -> None:
    novelty = value().novelty
    near, far = novelty(np.vstack([SEEN[0] * 1.5, [99.0, 99.0]]).astype(np.float32))
    assert near < 0.2
    assert far == 1.0


def test_rbf_kernels_in_single_precision() -> None:
    A = RNG.normal(size=(3, 2))
    found = rbf(A, LANDMARKS.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.exp(-0.5 * squares(A, LANDMARKS)), atol=1e-5)


def test_the_value_of_a_plan_is_interpolated_by_matern_kernels_clipped_and_shifted() -> None:
    coef, mean = RNG.normal(size=(2, 6)).astype(np.float32), np.array([0.2, 1.0])
    cap, shift, lengthscale = np.array([1.5, 0.9]), np.array([-4.0, -2.0]), 0.8
    planned = PlannedValue(LANDMARKS, lengthscale, coef, mean, cap, shift)
    y = RNG.normal(size=(5, 2))
    for step in range(2):
        inside = Matern(1.5, lengthscale)(y, LANDMARKS) @ coef[step] + mean[step]
        expected = np.clip(inside, 0.0, cap[step]) + shift[step]
        np.testing.assert_allclose(planned(y.astype(np.float32), step), expected, atol=1e-5)
