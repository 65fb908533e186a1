"""Weights of transitions in a predicted displacement: those of kernel ridge regression."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.displacement.evidence import smoother_weights
from cmerl.kernels.fitting import Fit

RNG = np.random.default_rng(0)
X, XQ = 3.0 * RNG.normal(size=(12, 2)), RNG.normal(size=(5, 2))
FIT = Fit(np.array([0.8, 1.3]), 0.2, 0.0)


def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    gaps = (A[:, None] - B) / FIT.lengthscales
    return np.asarray(np.exp(-0.5 * np.square(gaps).sum(axis=2)))


def test_with_a_centre_at_every_point_weights_are_those_of_kernel_ridge_regression() -> None:
    Y = RNG.normal(size=(12, 3)) + 4.0
    around = np.linalg.solve(kernel(X, X) + FIT.ridge * np.eye(12), Y - Y.mean(axis=0))
    expected = Y.mean(axis=0) + kernel(XQ, X) @ around
    np.testing.assert_allclose(smoother_weights(X, XQ, FIT, 50) @ Y, expected, rtol=1e-4)


@pytest.mark.parametrize("centres", [3, 6])
def test_with_fewer_centres_they_minimise_the_penalised_squares(centres: int) -> None:
    Y = RNG.normal(size=(12, 1))
    Y -= Y.mean()
    found = smoother_weights(X, X, FIT, centres) @ Y
    assert np.linalg.matrix_rank(smoother_weights(X, X, FIT, centres)) <= centres + 1
    better = np.linalg.norm(Y - found)
    assert better < np.linalg.norm(Y)  # than the mean alone
    assert better > np.linalg.norm(Y - smoother_weights(X, X, FIT, 12) @ Y) - 1e-9


def test_weights_sum_to_one_so_that_a_shift_of_all_outputs_shifts_the_prediction() -> None:
    np.testing.assert_allclose(smoother_weights(X, XQ, FIT, 12).sum(axis=1), 1.0)
    np.testing.assert_array_equal(smoother_weights(X, XQ, None, 12), np.full((5, 12), 1.0 / 12))
