"""Dictionaries: coordinates, and what they leave over."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from cmerl.embedding import compressed
from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.kernels import RBF, Delta, StateAction
from cmerl.transitions import Transitions


def posterior_variance(kernel: RBF, lam: float, X: np.ndarray, Xq: np.ndarray) -> np.ndarray:
    """k(q, q) − k(q, X) (K + λI)⁻¹ k(X, q) in fifty digits."""
    with mpmath.workdps(50):
        inverse = mpmath.inverse(mpmath.matrix(kernel(X, X.copy()).tolist()) + lam * mpmath.eye(len(X)))
        rows = [mpmath.matrix([row]) for row in kernel(Xq, X).tolist()]
        return np.array([float(1 - (row * inverse * row.T)[0]) for row in rows])


@pytest.mark.parametrize("lam", [1.0, 1e-3])
def test_far_from_points_that_are_close_together_the_variance_is_right(lam: float) -> None:
    """Points in a hundredth of the square are nearly dependent, and coordinates of far queries longer than 1."""
    rng = np.random.default_rng(8)
    X, Xq = 0.01 * rng.uniform(size=(20, 2)), rng.uniform(size=(20, 2))
    kernel = StateAction(RBF(1.0), Delta())
    embedding = compressed(kernel, Delta(), lam, np.zeros((1, 1)), tolerance=0.0, value_tolerance=0.0)
    embedding.update(Transitions.of(np.pad(X, ((0, 0), (0, 1))), X, np.zeros(20)))
    wanted = posterior_variance(RBF(1.0), lam, X, Xq)
    np.testing.assert_allclose(embedding.std(np.pad(Xq, ((0, 0), (0, 1)))) ** 2, wanted, atol=1e-6)
    np.testing.assert_allclose(embedding.grid(Xq).std()[:, 0] ** 2, wanted, atol=1e-6)


def test_coordinates_and_residuals_are_those_of_the_cholesky_factor() -> None:
    rng = np.random.default_rng(1)
    X, Xq = rng.uniform(size=(6, 2)), rng.uniform(size=(9, 2))
    kernel = RBF(0.3)
    dictionary = Dictionary(kernel, tolerance=0.0, cap=100)
    dictionary.absorb(X)
    C, residual = dictionary.coordinates(Xq)
    factor = np.linalg.cholesky(kernel(X, X.copy()))
    np.testing.assert_allclose(C, np.linalg.solve(factor, kernel(X, Xq)), atol=1e-10)
    np.testing.assert_allclose(residual, 1.0 - np.sum(C**2, axis=0), atol=1e-12)


def test_points_that_are_represented_are_not_taken_again() -> None:
    X = np.random.default_rng(2).uniform(size=(5, 2))
    dictionary = Dictionary(RBF(0.3), tolerance=1e-6, cap=100)
    dictionary.absorb(X)
    C, residual = dictionary.absorb(np.vstack([X, X]))
    assert len(dictionary) == 5
    assert C.shape == (5, 10)
    assert residual.min() >= 0.0
    assert residual.max() < 1e-12
