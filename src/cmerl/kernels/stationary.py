"""Kernels of the difference x − y, scaled so that k(x, x) = 1.

Each takes one lengthscale for all columns or one per column (automatic relevance determination), and keeps it
as a float or a tuple of floats.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import KernelError
from cmerl.kernels.base import FloatArray, UnitDiagonal, VectorKernel
from cmerl.kernels.distances import Scales, minus_half_squared_distances, scaled_distances
from cmerl.validation.points import check_columns, positive, positives

Real = TypeVar("Real", np.float32, np.float64)


@dataclass(frozen=True)
class Stationary(UnitDiagonal, VectorKernel):
    """The base of stationary kernels: k(x, x) = 1 and 0 ≤ k ≤ 1."""

    def _diag(self, X: FloatArray) -> FloatArray:
        return np.ones(len(X))


class _Radial(Stationary):
    """A function of ‖(x − y)/ℓ‖; subclasses have a field ``lengthscale``, which is checked here.

    Not a dataclass itself: an inherited field would come before the main parameter of a subclass.
    """

    lengthscale: Scales

    def __post_init__(self) -> None:
        self._store("lengthscale", positives("lengthscale", self.lengthscale))

    def _check(self, X: FloatArray) -> None:
        check_columns("lengthscale", self.lengthscale, X)

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """g(r)·(y − x)/ℓ², shape (m, d), where g is −k'(r)/r at r = ‖(x − y)/ℓ‖."""
        slope = self._steepness(x[None], Y)
        return np.asarray((Y - x) / np.square(self.lengthscale) * slope.T)

    @abstractmethod
    def _steepness(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """g(r), shape (n, m)."""


@dataclass(frozen=True)
class RBF(_Radial):
    """The Gaussian kernel k(x, y) = exp(−½ Σ_j (x_j − y_j)² / ℓ_j²)."""

    lengthscale: Scales = 1.0

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        E = minus_half_squared_distances(X, Y, self.lengthscale)
        return np.exp(E, out=E)

    def _steepness(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return self(X, Y)


@dataclass(frozen=True)
class RationalQuadratic(_Radial):
    """A scale mixture of Gaussian kernels, k(x, y) = (1 + r²/(2·shape))^(−shape) with r = ‖(x − y)/ℓ‖.

    As ``shape`` grows this tends to the `RBF` kernel; the smaller it is, the heavier the tail.
    """

    shape: float = 1.0
    lengthscale: Scales = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("shape", positive("shape", self.shape))

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        E = minus_half_squared_distances(X, Y, self.lengthscale)
        E /= -self.shape
        if self.shape == 1.0:
            E += 1.0
            return np.reciprocal(E, out=E)
        # exp(−shape·log1p(·)) keeps its digits for large shapes, where (1 + tiny)^shape loses them.
        np.log1p(E, out=E)
        E *= -self.shape
        return np.exp(E, out=E)

    def _steepness(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return np.asarray(self(X, Y) ** (1.0 + 1.0 / self.shape))


@dataclass(frozen=True)
class Matern(_Radial):
    """The Matérn kernel of smoothness ν ∈ {½, 3⁄2, 5⁄2}, with r = √(2ν)·‖(x − y)/ℓ‖.

    It is e^(−r), (1 + r)e^(−r) or (1 + r + r²/3)e^(−r).
    """

    nu: float = 1.5
    lengthscale: Scales = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise KernelError(f"nu must be 0.5, 1.5 or 2.5, got {self.nu!r}.")
        self._store("nu", float(self.nu))

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return self._of_radii(self._radii(X, Y))

    def single(self, X: FloatArray, Y: FloatArray) -> NDArray[np.float32]:
        """The matrix in single precision, which is several times faster."""
        return self._of_radii(self._radii(X, Y).astype(np.float32))

    def _radii(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        # The square root turns an error of 1e-16 in a small r² into 1e-8 in r: distances must be exact.
        return scaled_distances(X, Y, np.asarray(self.lengthscale) / math.sqrt(2.0 * self.nu))

    def _of_radii(self, R: NDArray[Real]) -> NDArray[Real]:
        """The kernel at distances r, which are overwritten, in their precision."""
        if self.nu == 0.5:
            np.negative(R, out=R)
            return np.exp(R, out=R)
        K = np.exp(-R)
        if self.nu == 1.5:
            R += 1.0
        else:
            R *= 1.0 + R / 3.0
            R += 1.0
        K *= R
        return K

    def _steepness(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        R = self._radii(X, Y)
        if self.nu == 0.5:
            return np.exp(-R) / np.where(R > 0.0, R, np.inf)  # a tip, where no direction is steepest
        if self.nu == 1.5:
            return 3.0 * np.exp(-R)
        return np.asarray((1.0 + R) * np.exp(-R) * 5.0 / 3.0)


@dataclass(frozen=True)
class Periodic(Stationary):
    """A kernel for angles and seasons, k(x, y) = exp(−2 Σ_j sin²(π(x_j − y_j)/p_j) / ℓ_j²).

    Both parameters are one number, or one per column.
    """

    period: Scales = 1.0
    lengthscale: Scales = 1.0

    def __post_init__(self) -> None:
        period, scale = positives("period", self.period), positives("lengthscale", self.lengthscale)
        if isinstance(period, tuple) and isinstance(scale, tuple) and len(period) != len(scale):
            raise KernelError(f"period has {len(period)} entries but lengthscale has {len(scale)}.")
        self._store("period", period)
        self._store("lengthscale", scale)

    @property
    def diameter(self) -> float:
        """√(2(1 − exp(−2 Σ_j 1/ℓ_j²))), attained half a period apart in every column.

        With two plain numbers the count of columns is not known and √2 is returned, which holds for any
        count; write ``Periodic((p,), ℓ)`` to get the smaller value for a single column.
        """
        per_column = [p for p in (self.period, self.lengthscale) if isinstance(p, tuple)]
        if not per_column:
            return math.sqrt(2.0)
        scales = np.broadcast_to(np.asarray(self.lengthscale), len(per_column[0]))
        return math.sqrt(-2.0 * math.expm1(-2.0 * float(np.sum(scales**-2.0))))

    def _check(self, X: FloatArray) -> None:
        check_columns("period", self.period, X)
        check_columns("lengthscale", self.lengthscale, X)

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        circles = self._circles(X)
        E = minus_half_squared_distances(circles, circles if Y is X else self._circles(Y), 1.0)
        return np.exp(E, out=E)

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """−k·2π/(p ℓ²)·sin(2π(x − y)/p), shape (m, d)."""
        turn = 2.0 * math.pi / np.asarray(self.period)
        slope = turn / np.square(self.lengthscale) * np.sin(turn * (Y - x))
        return np.asarray(slope * self(x[None], Y).T)

    def _circles(self, X: FloatArray) -> FloatArray:
        """Each column on a circle of radius 1/ℓ_j, shape (n, 2d).

        The chord between two angles is 2|sin(half their difference)|/ℓ, which makes this kernel the `RBF` of
        points on circles, and as fast.
        """
        # The remainder is exact, however far from 0 the angle is.
        angles = np.fmod(X, self.period) * (2.0 * math.pi / np.asarray(self.period))
        circles: FloatArray = np.hstack((np.cos(angles) / self.lengthscale, np.sin(angles) / self.lengthscale))
        return circles
