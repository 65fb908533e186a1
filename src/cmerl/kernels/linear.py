"""Kernels with finitely many features: the constant, and polynomials of the inner product xᵀy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cmerl.errors import InputError, KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points, VectorKernel
from cmerl.validation.points import check_radius, count, positive


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, y) = c for points of any kind. Adding it to k_ψ puts constant functions into the space."""

    c: float = 1.0

    def __post_init__(self) -> None:
        self._store("c", positive("c", self.c))

    @property
    def bound(self) -> float:
        """√c."""
        return math.sqrt(self.c)

    @property
    def nonnegative(self) -> bool:
        """True."""
        return True

    @property
    def diameter(self) -> float:
        """0: all points have the same feature."""
        return 0.0

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """A matrix filled with c, shape (n, m)."""
        n = count(X)
        return np.full((n, n if Y is None else count(Y)), self.c)

    def diag(self, X: Points) -> FloatArray:
        """A vector filled with c, shape (n,)."""
        return np.full(count(X), self.c)

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """Zeros, shape (m, d)."""
        return np.zeros((len(Y), len(x)))


@dataclass(frozen=True)
class Linear(VectorKernel):
    """The inner product k(x, y) = xᵀy.

    Args:
        radius: Largest norm of a point; a larger one is an error. Without it the kernel is unbounded, and bounds that
            need B_φ or D are not available.
    """

    radius: float | None = None

    def __post_init__(self) -> None:
        if self.radius is not None:
            self._store("radius", positive("radius", self.radius))

    @property
    def bound(self) -> float:
        """The radius, or infinity without one."""
        return math.inf if self.radius is None else self.radius

    def _check(self, X: FloatArray) -> None:
        check_radius(self.radius, X)
        _check_overflow(self, X)

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        K: FloatArray = X @ Y.T
        return K

    def _diag(self, X: FloatArray) -> FloatArray:
        return _squared_norms(X)

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """y_j, shape (m, d)."""
        return Y.copy()


@dataclass(frozen=True)
class Polynomial(VectorKernel):
    """The polynomial kernel k(x, y) = (xᵀy + offset)^degree, with all monomials up to ``degree``.

    Args:
        degree: A whole number, at least 1.
        offset: At least 0; with 0 only the monomials of exactly ``degree`` remain.
        radius: As in `Linear`.
    """

    degree: int = 2
    offset: float = 1.0
    radius: float | None = None

    def __post_init__(self) -> None:
        if self.degree != int(positive("degree", self.degree)):
            raise KernelError(f"degree must be a whole number, at least 1, got {self.degree!r}.")
        self._store("degree", int(self.degree))
        self._store("offset", 0.0 if self.offset == 0 else positive("a non-zero offset", self.offset))
        if self.radius is not None:
            self._store("radius", positive("radius", self.radius))

    @property
    def bound(self) -> float:
        """(radius² + offset)^(degree/2), or infinity without a radius."""
        return math.sqrt((self._largest_product + self.offset) ** self.degree)

    @property
    def nonnegative(self) -> bool:
        """True for an even degree, or if offset ≥ radius²."""
        return self.degree % 2 == 0 or self.offset >= self._largest_product

    @property
    def diameter(self) -> float:
        """√(2(max k − min k)) over xᵀy in [−radius², radius²].

        It is attained by y = −x, except for an even degree and offset < radius².
        """
        r2 = self._largest_product
        lowest = 0.0 if self.degree % 2 == 0 and self.offset <= r2 else (self.offset - r2) ** self.degree
        return math.sqrt(2.0 * ((r2 + self.offset) ** self.degree - lowest))

    @property
    def _largest_product(self) -> float:
        return math.inf if self.radius is None else self.radius**2

    def _check(self, X: FloatArray) -> None:
        check_radius(self.radius, X)
        _check_overflow(self, X)

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        K: FloatArray = X @ Y.T
        K += self.offset
        K **= self.degree
        return K

    def _diag(self, X: FloatArray) -> FloatArray:
        values = _squared_norms(X)
        values += self.offset
        values **= self.degree
        return values

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """degree·(xᵀy + offset)^(degree − 1)·y, shape (m, d)."""
        slope = self.degree * (Y @ x + self.offset) ** (self.degree - 1)
        return np.asarray(slope[:, None] * Y)


def _check_overflow(kernel: Linear | Polynomial, X: FloatArray) -> None:
    """Refuse points at which k(x, x) overflows: at all others |k(x, y)| ≤ √(k(x, x)·k(y, y)) is finite."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(kernel._diag(X))
    if not finite.all():
        raise InputError(f"Row {int(np.argmin(finite))} is so large that the kernel overflows: scale the points.")


def _squared_norms(X: FloatArray) -> FloatArray:
    """‖x_i‖², shape (n,)."""
    norms: FloatArray = np.einsum("ij,ij->i", X, X)
    return norms
