"""RKHS norms of value functions on finitely many states, and of near approximations to them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence.terms import ValueNorms
from cmerl.kernels import Constant, Delta, Kernel, Scaled, Sum
from cmerl.linalg import Cholesky, spectrum
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]

RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest count as zero
HALVINGS = 40  # of the logarithm of the ridge, when an approximation is looked for


class NormCalculator:
    """‖V‖_ψ and min_c ‖V − c‖_ψ from the values of V on given states.

    Termination is one more state, whose feature is a unit vector orthogonal to all others.
    """

    def __init__(self, value_kernel: Kernel, states: Points) -> None:
        self._factor = Cholesky.of(value_kernel(states))
        self._half_ones = np.append(self._factor.half_solve(np.ones(len(states))), 1.0)

    def __call__(self, v: FloatArray, terminal: float | None = None) -> ValueNorms:
        """Norms of the interpolant of v (S,), and of ``terminal`` at the end of an episode if it can end early."""
        half = np.append(self._factor.half_solve(v), 0.0 if terminal is None else terminal)
        if terminal is None:  # no such state: it takes the constant's value and costs nothing
            return _norms(half[:-1], self._half_ones[:-1])
        return _norms(half, self._half_ones)


class NearNorms:
    """The same norms for a smooth function within ζ of V.

    It takes K(K + μ)⁻¹v with the largest μ that stays within ζ. The distance is measured, so the kernel matrix may be
    singular. If no function of the space is within ζ, the norms are infinite.
    """

    def __init__(self, value_kernel: Kernel, states: Points, zeta: float) -> None:
        values, vectors = spectrum(value_kernel(states))
        kept = values > RANK_TOLERANCE * max(float(values[0]), 0.0)
        self._values, self._vectors, self.zeta = values[kept], vectors[:, kept], zeta
        ones = self._vectors.T @ np.ones(len(states))
        self._half_ones: FloatArray | None = np.append(ones / np.sqrt(self._values), 1.0)
        if np.max(np.abs(self._vectors @ ones - 1.0)) > 1e-9:  # constants are not in the space
            self._half_ones = None

    def __call__(self, v: FloatArray, terminal: float | None = None) -> ValueNorms:
        """Norms of the function found near v (S,)."""
        rotated = self._vectors.T @ v

        def missed(ridge: float) -> float:
            near = self._vectors @ (rotated * self._values / (self._values + ridge))
            return float(np.max(np.abs(near - v), initial=0.0))

        if missed(0.0) > self.zeta:
            return ValueNorms(math.inf, math.inf)
        low, high = math.log(self._values[-1]) - 20.0, math.log(self._values[0]) + 20.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if missed(math.exp(middle)) <= self.zeta else (low, middle)
        ridge = math.exp(low) if missed(math.exp(low)) <= self.zeta else 0.0
        half = rotated * np.sqrt(self._values) / (self._values + ridge)
        half = half if terminal is None else np.append(half, terminal)
        if self._half_ones is None:
            norm = float(np.linalg.norm(half))
            return ValueNorms(norm, norm)
        return _norms(half, self._half_ones[: len(half)])


def _norms(half: FloatArray, ones: FloatArray) -> ValueNorms:
    """Norms of coordinates, and of what is orthogonal to the constants' coordinates."""
    centred = half - (ones @ half) / (ones @ ones) * ones
    return ValueNorms(float(np.linalg.norm(half)), float(np.linalg.norm(centred)))


def constant_norm(value_kernel: Kernel, states: int | None) -> float | None:
    """A bound on ‖1‖_ψ: 1/√c for k + c, √states for a delta kernel, else None."""
    if isinstance(value_kernel, Constant):
        return 1.0 / math.sqrt(value_kernel.c)
    if isinstance(value_kernel, Sum):
        found = [n for n in (constant_norm(k, states) for k in value_kernel.kernels) if n is not None]
        return min(found, default=None)
    if isinstance(value_kernel, Scaled):
        inner = constant_norm(value_kernel.kernel, states)
        return None if inner is None else inner / math.sqrt(value_kernel.c)
    return math.sqrt(states) if isinstance(value_kernel, Delta) and states is not None else None
