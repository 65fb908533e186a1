"""RBF functions at fixed centres, and their posterior variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class RBFFeatures:
    """RBF functions at fixed centres: what does not depend on the query is computed once.

    −½‖p − q‖² = ⟨(p, ½‖p‖², 1), (q, −1, −½‖q‖²)⟩; with the mean of the centres as origin little cancels.

    Args:
        centres: (m, d).
        lengthscales: ℓ, one for all columns or one per column.
    """

    def __init__(self, centres: FloatArray, lengthscales: FloatArray | float = 1.0) -> None:
        self.centres, self._scales = centres, lengthscales
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
        np.exp(K, out=K)
        return np.asarray(K.reshape(*X.shape[:-1], -1))

    def split(self, actions: FloatArray) -> tuple[RBFFeatures, FloatArray]:
        """The features of states, and those of given actions (A, e), the last columns: (A, m). k is their product."""
        d = self.centres.shape[1] - actions.shape[1]
        scales = np.broadcast_to(self._scales, self.centres.shape[1])
        states = RBFFeatures(self.centres[:, :d], scales[:d])
        return states, RBFFeatures(self.centres[:, d:], scales[d:])(actions)


def posterior_variance(K: FloatArray, known: FloatArray) -> FloatArray:
    """1 − kᵀ A k (…,) within [0, 1], for kernels (…, m) and A (m, m)."""
    rows = K.reshape(-1, K.shape[-1])
    variance: FloatArray = 1.0 - np.einsum("ij,ij->i", rows @ known, rows)
    return np.minimum(np.maximum(variance, 0.0), 1.0).reshape(K.shape[:-1])
