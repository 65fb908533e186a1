"""Smooth regressions on a few centres: a cost that depends on their number, with all data used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.linalg import Cholesky, pivoted_rows

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


class Bumps:
    """RBF functions at fixed centres: what does not depend on the query is computed once.

    −½‖p − q‖² = ⟨(p, ½‖p‖², 1), (q, −1, −½‖q‖²)⟩; with the mean of the centres as origin little cancels.

    Args:
        centres: (m, d).
        lengthscales: ℓ, one for all columns or one per column.
        single: whether exponentials, which take most of the time, are in single precision.
    """

    def __init__(self, centres: FloatArray, lengthscales: FloatArray | float = 1.0, *, single: bool = False) -> None:
        self._centres, self._scales, self._single = centres, lengthscales, single
        self._origin = centres.mean(axis=0)
        Q = (centres - self._origin) / lengthscales
        self._right = np.vstack([Q.T, -np.ones(len(Q)), -0.5 * np.square(Q).sum(axis=1)])

    def __call__(self, X: NDArray[Any]) -> NDArray[Any]:
        """k(x, centres) (…, m) at X (…, d)."""
        P = (X.reshape(-1, X.shape[-1]) - self._origin) / self._scales
        left = np.empty((len(P), P.shape[1] + 2))
        left[:, :-2], left[:, -1] = P, 1.0
        np.einsum("ij,ij->i", P, 0.5 * P, out=left[:, -2])
        K = left @ self._right
        np.minimum(K, 0.0, out=K)
        if self._single:
            K = K.astype(np.float32)
        np.exp(K, out=K)
        return np.asarray(K.reshape(*X.shape[:-1], -1))

    def split(self, actions: FloatArray, *, single: bool = False) -> tuple[Bumps, FloatArray]:
        """The bumps of states, and those of given actions (A, e), the last columns: (A, m). k is their product."""
        d = self._centres.shape[1] - actions.shape[1]
        scales = np.broadcast_to(self._scales, self._centres.shape[1])
        states = Bumps(self._centres[:, :d], scales[:d], single=single)
        return states, Bumps(self._centres[:, d:], scales[d:])(actions)


def independent_points(X: FloatArray, count: int, *, implied: float = 1e-6) -> IntArray:
    """Rows of X (n, d), at most so many, that span all of it with RBF functions of width 1.

    Args:
        X: the candidates.
        count: most rows.
        implied: a function of which the others leave less than this is not needed.
    """
    rows, _ = farthest_points(X, count, apart=1e-3)
    return np.asarray(rows[pivoted_rows(Bumps(X[rows])(X[rows]), implied)])


class Novelty:
    """How little is known around a point, from 1 where nothing is to 0: the variance of an RBF regression.

    Args:
        X: what was seen (n, d), in units of the kernel's width.
        ridge: λ: after N visits λ/(N + λ) is left.
        centres: most centres; what they leave of the kernel counts as unknown.
    """

    def __init__(self, X: FloatArray, ridge: float, centres: int) -> None:
        rows = independent_points(X, centres)
        self._kernel = Bumps(X[rows])
        K = self._kernel(X)
        basis = Cholesky.of(K[rows], NUGGET)
        half = basis.half_solve(K.T @ K)
        self.factor = Cholesky.of(basis.half_solve(half.T), ridge)  # of the moments in an orthonormal basis
        # σ² = 1 − kᵀ[K⁻¹ − λ(…)⁻¹]k, one product with a matrix made once
        inverse = basis.half_solve(np.eye(len(rows)))
        left = self.factor.half_solve(inverse)
        self._known = inverse.T @ inverse - ridge * (left.T @ left)
        self.information_gain = 0.5 * (self.factor.log_det - len(rows) * float(np.log(ridge)))

    def __call__(self, X: NDArray[Any]) -> FloatArray:
        """σ² (…,) at X (…, d)."""
        return self._variance(self._kernel(X))

    def of_actions(self, actions: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """σ² (A, q) of every action (A, e) at states (q, d)."""
        kernel, own = self._kernel.split(actions)
        return lambda states: self._variance(kernel(states) * own[:, None, :])

    def _variance(self, K: FloatArray) -> FloatArray:
        rows = K.reshape(-1, K.shape[-1])
        variance: FloatArray = 1.0 - np.einsum("ij,ij->i", rows @ self._known, rows)
        return np.minimum(np.maximum(variance, 0.0), 1.0).reshape(K.shape[:-1])
