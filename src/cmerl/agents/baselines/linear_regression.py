"""Ridge regression of values on features: sums over the data, so that a backup does not go through them again.

Targets are y_i = r_i + V(s'_i), and Σφ_i y_i = Σφ_i r_i + C·V with C = Σφ_i e(s'_i)ᵀ over the distinct next states. A
backup costs O(d·m + d²) for d features and m distinct next states, however often each was seen.
"""

from __future__ import annotations

import copy
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cmerl.growing import GrowingMatrix
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class LinearRegression(Protocol):
    """A ridge regression on features of state-actions; φ is in the form that each kind of feature has."""

    def add(self, phi: FloatArray, next_ids: IntArray, rewards: FloatArray) -> None:
        """Add k transitions: their features, the number of each next state (−1: the episode ended), rewards."""
        ...

    def solve(self, v: FloatArray, terminal: float) -> FloatArray:
        """Λ⁻¹Σφ_i(r_i + V(s'_i)) for V at the distinct next states (m,) and at an end."""
        ...

    def mean(self, w: FloatArray, phi: FloatArray) -> FloatArray:
        """φᵀw."""
        ...

    def width(self, phi: FloatArray) -> FloatArray:
        """‖φ‖ in the norm of Λ⁻¹."""
        ...

    def freeze(self) -> Self:
        """What ``mean`` and ``width`` say now, unchanged by later data."""
        ...


class DenseRegression:
    """Features (k, d) as they are.

    Attributes:
        precision: Λ = λI + Σφφᵀ (d, d).
    """

    def __init__(self, size: int, lam: float) -> None:
        self.precision: FloatArray = lam * np.eye(size)
        self._rewards: FloatArray = np.zeros(size)
        self._ends: FloatArray = np.zeros(size)
        self._cross = GrowingMatrix(size, 0)
        self._factor: Cholesky | None = None

    @property
    def factor(self) -> Cholesky:
        """Of Λ, made when it is asked for."""
        if self._factor is None:
            self._factor = Cholesky.of(self.precision)
        return self._factor

    def add(self, phi: FloatArray, next_ids: IntArray, rewards: FloatArray) -> None:
        """Add k transitions with features (k, d)."""
        alive = next_ids >= 0
        most = max(self._cross.shape[1], int(next_ids.max(initial=-1)) + 1)
        cross = self._cross.resize(len(self.precision), most)
        np.add.at(cross.T, next_ids[alive], phi[alive])
        self.precision += phi.T @ phi
        self._rewards += phi.T @ rewards
        self._ends += phi[~alive].sum(axis=0)
        self._factor = None

    def solve(self, v: FloatArray, terminal: float) -> FloatArray:
        """Coefficients (d,); states beyond those that this regression has seen do not matter."""
        cross = self._cross.view
        return self.factor.solve(self._rewards + cross @ v[: cross.shape[1]] + terminal * self._ends)

    def mean(self, w: FloatArray, phi: FloatArray) -> FloatArray:
        """φᵀw (…) for features (…, d)."""
        return np.asarray(phi @ w)

    def width(self, phi: FloatArray) -> FloatArray:
        """‖φ‖ (…) for features (…, d)."""
        flat = phi.reshape(-1, phi.shape[-1])
        return np.sqrt(self.factor.quadratic(flat.T)).reshape(phi.shape[:-1])

    def freeze(self) -> Self:
        """A copy that keeps the factor of now; later data make a new one."""
        assert self.factor.n == len(self.precision)
        return copy.copy(self)


class OneHotRegression:
    """One-hot features, given by their numbers: Λ is diagonal, and counts are all there is.

    Attributes:
        precision: the diagonal of Λ (d,), λ plus the visits of each.
    """

    def __init__(self, size: int, lam: float) -> None:
        self.precision: FloatArray = np.full(size, lam)
        self._rewards: FloatArray = np.zeros(size)
        self._ends: FloatArray = np.zeros(size)
        self._cross = GrowingMatrix(size, 0)

    def add(self, phi: FloatArray, next_ids: IntArray, rewards: FloatArray) -> None:
        """Add k transitions of the state-actions with numbers (k,)."""
        rows, alive = phi.astype(np.intp), next_ids >= 0
        most = max(self._cross.shape[1], int(next_ids.max(initial=-1)) + 1)
        cross = self._cross.resize(len(self.precision), most)
        np.add.at(cross, (rows[alive], next_ids[alive]), 1.0)
        np.add.at(self.precision, rows, 1.0)
        np.add.at(self._rewards, rows, rewards)
        np.add.at(self._ends, rows[~alive], 1.0)

    def solve(self, v: FloatArray, terminal: float) -> FloatArray:
        """Coefficients (d,)."""
        cross = self._cross.view
        total = self._rewards + cross @ v[: cross.shape[1]] + terminal * self._ends
        return np.asarray(total / self.precision)

    def mean(self, w: FloatArray, phi: FloatArray) -> FloatArray:
        """The coefficient of each number (…)."""
        return np.asarray(w[phi.astype(np.intp)])

    def width(self, phi: FloatArray) -> FloatArray:
        """(N + λ)^{-1/2} of each number (…)."""
        return np.asarray(1.0 / np.sqrt(self.precision[phi.astype(np.intp)]))

    def freeze(self) -> Self:
        """A copy with counts of its own."""
        frozen = copy.copy(self)
        frozen.precision = self.precision.copy()
        return frozen
