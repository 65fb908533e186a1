"""Squared distances between points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from cmerl.kernels.base import FloatArray

Scales: TypeAlias = float | Sequence[float] | FloatArray
"""One positive number, or one per column."""

# What rounding may add to the exponent of a kernel, and so at most how far k(x, x) may be from 1.
TOLERANCE = 1e-12

# Differences of coordinates up to which they are quicker than a matrix product and what it takes to prepare one.
FEW = 20_000


def minus_half_squared_distances(X: FloatArray, Y: FloatArray, lengthscale: Scales) -> FloatArray:
    """The matrix [−½‖(x_i − y_j)/ℓ‖²], shape (n, m).

    With p = (x − c)/ℓ, q = (y − c)/ℓ, −½‖p − q‖² = ⟨(p, ½‖p‖², 1), (q, −1, −½‖q‖²)⟩. The centre c is the mean
    of ``Y``: the terms cancel, so the smaller they are, the smaller the error. Where the points spread over
    so many lengthscales that it could exceed `TOLERANCE`, or are few, pairwise differences are used instead.

    Args:
        X: Points, shape (n, d).
        Y: Points, shape (m, d); if it is ``X`` itself, the result is symmetric with a zero diagonal.
        lengthscale: ℓ, one for all columns or one per column.
    """
    d = X.shape[1]
    if len(X) * Y.size <= FEW:
        return _by_differences(X, Y, lengthscale)
    with np.errstate(over="ignore", invalid="ignore"):  # whatever overflows is far beyond the limit below
        centre = np.add.reduce(Y, axis=0) / max(len(Y), 1)
        Q = (Y - centre) / lengthscale
        P = Q if Y is X else (X - centre) / lengthscale
        half_q = 0.5 * np.einsum("ij,ij->i", Q, Q)
        half_p = half_q if P is Q else 0.5 * np.einsum("ij,ij->i", P, P)
        largest = max(half_p.max(initial=0.0), half_q.max(initial=0.0))
    if not largest * (d + 2) * np.finfo(np.float64).eps <= TOLERANCE:
        D2 = _squares(X, Y, lengthscale)
        D2 *= -0.5
        return D2
    if P is Q:  # a product with its own transpose is exactly symmetric, and so must be what is added to it
        E: FloatArray = P @ P.T
        E -= np.add.outer(half_p, half_p)
        np.fill_diagonal(E, 0.0)
    else:
        E = np.column_stack((P, half_p, np.ones(len(P)))) @ np.column_stack((Q, -np.ones(len(Q)), -half_q)).T
    return np.minimum(E, 0.0, out=E)


def scaled_distances(X: FloatArray, Y: FloatArray, lengthscale: Scales) -> FloatArray:
    """The matrix [‖(x_i − y_j)/ℓ‖], shape (n, m), at most 1e150, good to `TOLERANCE` wherever the points lie."""
    from scipy.spatial.distance import cdist  # slow to import, and not needed by every program

    with np.errstate(over="ignore"):
        A = X / lengthscale
        B = A if Y is X else Y / lengthscale
    largest = max(A.max(initial=0.0), -A.min(initial=0.0), B.max(initial=0.0), -B.min(initial=0.0))
    if largest * np.finfo(np.float64).eps <= TOLERANCE:
        return np.asarray(cdist(A, B))
    return np.minimum(np.sqrt(_squares(X, Y, lengthscale)), 1e150)  # an infinite distance would make 0·∞


def _squares(X: FloatArray, Y: FloatArray, lengthscale: Scales) -> FloatArray:
    """The matrix [‖(x_i − y_j)/ℓ‖²], shape (n, m): differences first, then their scale, so that nothing is lost."""
    from scipy.spatial.distance import cdist

    scale = np.broadcast_to(np.asarray(lengthscale, dtype=np.float64), X.shape[1])
    with np.errstate(over="ignore"):
        return np.asarray(np.square(cdist(X, Y, "seuclidean", V=np.square(scale))))


def _by_differences(X: FloatArray, Y: FloatArray, lengthscale: Scales) -> FloatArray:
    """The matrix [−½‖(x_i − y_j)/ℓ‖²], a column at a time; symmetric with a zero diagonal where Y is X."""
    E = np.zeros((len(X), len(Y)))
    scales = np.broadcast_to(np.asarray(lengthscale, dtype=np.float64), X.shape[1])
    with np.errstate(over="ignore"):
        for x, y, scale in zip(X.T, Y.T, scales, strict=True):
            D = np.subtract.outer(x, y)
            D /= scale
            D *= D
            E -= D
    E *= 0.5
    return E
