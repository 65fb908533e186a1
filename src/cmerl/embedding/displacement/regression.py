"""Smooth regressions on a few centres: all data are used, and the cost depends on the centres only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.linalg import Cholesky, pivoted_rows
from cmerl.searching.rbf_features import RBFFeatures, posterior_variance

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

NUGGET = 1e-8  # relative; centres may nearly coincide


def farthest_points(
    X: FloatArray, count: int, apart: float = 0.0, *, rounding: float = 1e-14
) -> tuple[IntArray, float]:
    """Rows of X (n, d), each the farthest from those before, and the distance within which all others lie.

    Random choice would lose rarely visited regions; this keeps a point in each.

    Args:
        X: the candidates.
        count: most rows.
        apart: stop when all points are within this distance of a chosen one.
        rounding: of squared distances, relative to the largest.
    """
    X = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", X, X)
    chosen = [int(norms.argmin())]
    squares = _squares(X, norms, chosen[0])
    least = max(apart**2, rounding * float(norms.max()))
    while len(chosen) < count:
        i = int(squares.argmax())
        if squares[i] <= least:
            break
        chosen.append(i)
        np.minimum(squares, _squares(X, norms, i), out=squares)
    return np.array(chosen, dtype=np.intp), float(np.sqrt(max(squares.max(), 0.0)))


def _squares(X: FloatArray, norms: FloatArray, i: int) -> FloatArray:
    """Squared distances to point i (n,), by ‖x‖² − 2⟨x, x_i⟩ + ‖x_i‖²."""
    squares: FloatArray = X @ (-2.0 * X[i])
    squares += norms
    squares += norms[i]
    return squares


def rbf_matrix(P: FloatArray, Q: FloatArray) -> FloatArray:
    """exp(−½‖p − q‖²) (n, m)."""
    left, right = 0.5 * np.square(P).sum(axis=1), 0.5 * np.square(Q).sum(axis=1)
    return np.asarray(np.exp(np.minimum(P @ Q.T - left[:, None] - right, 0.0)))


def independent_points(X: FloatArray, count: int, *, implied: float = 1e-6) -> IntArray:
    """Rows of X (n, d), at most so many, that span all of it with RBF functions of width 1.

    Args:
        X: the candidates.
        count: most rows.
        implied: a function of which the others leave less than this is not needed.
    """
    rows, _ = farthest_points(X, count, apart=1e-3)
    return np.asarray(rows[pivoted_rows(RBFFeatures(X[rows])(X[rows]), implied)])


def orthonormal_basis(Kmm: FloatArray) -> FloatArray:
    """B (m, m) such that kernels at centres with the kernel matrix Kmm, times B, are orthonormal functions.

    Coefficients of smooth kernels are huge and cancel: a nugget large enough to factorise their moments would be a
    ridge of its own, far above the one that was chosen.
    """
    return Cholesky.of(Kmm, NUGGET).half_solve(np.eye(len(Kmm))).T


class Novelty:
    """Novelty of a point in [0, 1]: the posterior variance of an RBF regression that counts visits.

    Args:
        X: what was seen (n, d), in units of the kernel's width.
        ridge: λ: after N visits λ/(N + λ) is left.
        centres: most centres; what they leave of the kernel counts as unknown.

    Attributes:
        kernel: at the centres.
        known: A: σ² = 1 − k(x)ᵀ A k(x).
    """

    def __init__(self, X: FloatArray, ridge: float, centres: int) -> None:
        rows = independent_points(X, centres)
        self.kernel = RBFFeatures(X[rows])
        K = self.kernel(X)
        basis = Cholesky.of(K[rows], NUGGET)
        inverse = basis.half_solve(np.eye(len(rows)))
        features = inverse @ K.T  # in an orthonormal basis: their moments are a square, which rounding keeps one
        self.factor = Cholesky.of(features @ features.T, ridge)
        # σ² = 1 − kᵀ[K⁻¹ − λ(…)⁻¹]k, one product with a matrix made once
        left = self.factor.half_solve(inverse)
        self.known = inverse.T @ inverse - ridge * (left.T @ left)
        self.information_gain = 0.5 * (self.factor.log_det - len(rows) * float(np.log(ridge)))

    def __call__(self, X: NDArray[Any]) -> FloatArray:
        """σ² (…,) at X (…, d)."""
        return posterior_variance(self.kernel(X), self.known)

    def of_actions(self, actions: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """σ² (A, q) of every action (A, e) at states (q, d)."""
        kernel, own = self.kernel.split(actions)
        return lambda states: posterior_variance(kernel(states) * own[:, None, :], self.known)
