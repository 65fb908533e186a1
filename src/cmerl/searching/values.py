"""Terminal values of a search: fitted for searches, or the value of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.searching.rbf_features import RBFFeatures, posterior_variance
from cmerl.searching.simulator import LEAST_EXPONENT, quick_exponential

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class QueryNovelty:
    """U in [0, 1]: how little is known around states.

    Attributes:
        kernel: at states that were seen.
        known: A: 1 − k(x)ᵀ A k(x) is left open.
        width: of the kernel, in the units of the model.
    """

    kernel: RBFFeatures
    known: FloatArray
    width: float

    def __call__(self, y: SingleArray) -> SingleArray:
        """At states (n, d)."""
        return np.asarray(posterior_variance(self.kernel(y / np.float32(self.width)), self.known), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class TerminalValue:
    """V at states in the units of the model: the lesser of two regressions, and less where little is known.

    Attributes:
        landmarks: over the lengthscales (m, d).
        lengthscales: (d,).
        coef: of each half (m, 2).
        mean: around which V is regressed.
        bounds: the least and the most that V can be.
        values: v at the landmarks (m,).
        pessimism: what is taken off where there are no data, as a share of V − min v.
        novelty: how little is known.
    """

    landmarks: SingleArray
    lengthscales: SingleArray
    coef: SingleArray
    mean: float
    bounds: tuple[float, float]
    values: FloatArray
    pessimism: float
    novelty: QueryNovelty

    def __call__(self, y: SingleArray) -> SingleArray:
        """V (n,) at states (n, d)."""
        K = rbf(y / self.lengthscales, self.landmarks)
        v = np.clip((K @ self.coef).min(axis=1) + np.float32(self.mean), *self.bounds)
        if self.pessimism:
            v = v - self.pessimism * self.novelty(y) * (v - self.values.min())
        return np.asarray(v, dtype=np.float32)


def rbf(P: NDArray[Any], Q: SingleArray) -> SingleArray:
    """exp(−½‖p − q‖²) (n, m) in single precision."""
    exponential, factor = quick_exponential()
    P = P.astype(np.float32, copy=False)
    left = np.column_stack([P, np.square(P).sum(axis=1), np.ones(len(P), np.float32)])
    right = np.column_stack([Q, np.full(len(Q), -0.5, np.float32), -0.5 * np.square(Q).sum(axis=1)])
    K: SingleArray = left @ (factor * right).T
    np.maximum(K, LEAST_EXPONENT * factor, out=K)
    exponential(K, out=K)
    return K


@dataclass(frozen=True, eq=False)
class PlannedValue:
    """V of a plan at every step, in the environment's units, by Matérn kernels of smoothness 3⁄2 at landmarks.

    Attributes:
        landmarks: (m, d).
        lengthscale: of the kernel.
        coef: for each step (H, m).
        mean: around which V is regressed (H,).
        cap: the most that V can be, from 0 (H,).
        shift: what V then lacks (H,).
    """

    landmarks: FloatArray
    lengthscale: float
    coef: SingleArray
    mean: FloatArray
    cap: FloatArray
    shift: FloatArray

    def __call__(self, y: SingleArray, step: int) -> SingleArray:
        """V (n,) at states (n, d)."""
        A, B = (points / (self.lengthscale / np.sqrt(3.0)) for points in (y.astype(np.float64), self.landmarks))
        squares = np.zeros((len(A), len(B)))
        for j in range(A.shape[1]):
            squares += np.square(A[:, j, None] - B[:, j])
        R = np.sqrt(squares).astype(np.float32)
        v = (np.exp(-R) * (R + np.float32(1.0))) @ self.coef[step] + self.mean[step]
        return np.asarray(np.minimum(np.maximum(v, 0.0), self.cap[step]) + self.shift[step], dtype=np.float32)
