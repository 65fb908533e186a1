"""Sums, products and multiples of kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from cmerl.errors import KernelError
from cmerl.kernels.base import OPERATIONS, FloatArray, Kernel, Points
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.linear import Constant
from cmerl.validation.points import positive


@dataclass(frozen=True)
class Scaled(Kernel):
    """The multiple c·k of a kernel, c > 0; also written ``c * k``."""

    kernel: Kernel
    c: float

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))
        self._store("c", positive("c", self.c))

    @property
    def bound(self) -> float:
        """√c times the bound of the kernel."""
        return math.sqrt(self.c) * self.kernel.bound

    @property
    def nonnegative(self) -> bool:
        """As the kernel."""
        return self.kernel.nonnegative

    @property
    def diameter(self) -> float:
        """√c times the diameter of the kernel."""
        return math.sqrt(self.c) * self.kernel.diameter

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [c·k(x_i, y_j)], shape (n, m)."""
        K = self.kernel(X, Y)
        K *= self.c
        return K

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [c·k(x_i, x_i)], shape (n,)."""
        return self.c * self.kernel.diag(X)

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """The multiple of the gradient, shape (m, d)."""
        return self.c * self.kernel.gradient(x, Y)


@dataclass(frozen=True)
class Sum(Kernel):
    """k = Σ k_i, also written ``k1 + k2``; its feature is the concatenation."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        self._store("kernels", _parts(self.kernels))

    @property
    def bound(self) -> float:
        """√Σ B_i²."""
        return math.hypot(*(k.bound for k in self.kernels))

    @property
    def nonnegative(self) -> bool:
        """True if all kernels are."""
        return all(k.nonnegative for k in self.kernels)

    @property
    def diameter(self) -> float:
        """√Σ D_i²."""
        return math.hypot(*(k.diameter for k in self.kernels))

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The sum of the matrices, shape (n, m)."""
        first, *others = self.kernels
        K = first(X, Y)
        for kernel in others:
            K += kernel(X, Y)
        return K

    def diag(self, X: Points) -> FloatArray:
        """The sum of the diagonals, shape (n,)."""
        total: FloatArray = np.sum([k.diag(X) for k in self.kernels], axis=0)
        return total

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """The sum of the gradients, shape (m, d)."""
        total: FloatArray = np.sum([k.gradient(x, Y) for k in self.kernels], axis=0)
        return total


@dataclass(frozen=True)
class Product(Kernel):
    """k = Π k_i, also written ``k1 * k2``; its feature is the tensor product."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        self._store("kernels", _parts(self.kernels))

    @property
    def bound(self) -> float:
        """Π B_i."""
        return product_bound(self.kernels)

    @property
    def nonnegative(self) -> bool:
        """True if all kernels are."""
        return all(k.nonnegative for k in self.kernels)

    @property
    def diameter(self) -> float:
        """The smaller of the bound from B alone and Σ_i D_i Π_{j≠i} B_j."""
        return product_diameter(self.kernels)

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The entrywise product of the matrices, shape (n, m)."""
        first, *others = self.kernels
        K = first(X, Y)
        for kernel in others:
            K *= kernel(X, Y)
        return K

    def diag(self, X: Points) -> FloatArray:
        """The product of the diagonals, shape (n,)."""
        product: FloatArray = np.prod([k.diag(X) for k in self.kernels], axis=0)
        return product

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """Σ_i ∇k_i Π_{j≠i} k_j, shape (m, d)."""
        values = [k(x[None], Y)[0] for k in self.kernels]
        total = np.zeros_like(Y)
        for i, kernel in enumerate(self.kernels):
            others = np.prod(values[:i] + values[i + 1 :], axis=0)
            total += kernel.gradient(x, Y) * np.broadcast_to(others, len(Y))[:, None]
        return total


def add(a: Kernel | float, b: Kernel | float) -> Kernel:
    """``a + b``, where a number c stands for ``Constant(c)`` and sums within sums are flattened."""
    parts: list[Kernel] = []
    for term in (a, b):
        if isinstance(term, Sum):
            parts += term.kernels
        elif not isinstance(term, Real):
            parts.append(as_kernel(term))
        elif term != 0:  # adding nothing changes nothing, and lets the built-in sum(kernels) start from 0
            parts.append(Constant(float(term)))
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def multiply(a: Kernel | float, b: Kernel | float) -> Kernel:
    """``a * b``, where a number scales; products within products and multiples of multiples are flattened."""
    if isinstance(a, Real):
        a, b = b, a
    if isinstance(b, Real):
        return Scaled(a.kernel, a.c * b) if isinstance(a, Scaled) else Scaled(as_kernel(a), float(b))
    parts: list[Kernel] = []
    for factor in (a, b):
        parts += factor.kernels if isinstance(factor, Product) else (as_kernel(factor),)
    return Product(tuple(parts))


def product_bound(kernels: Iterable[Kernel]) -> float:
    """Π B_i, the bound of a product of kernels."""
    return _product(k.bound for k in kernels)


def product_diameter(kernels: Sequence[Kernel]) -> float:
    """The smaller of two valid bounds on the diameter of a product of kernels.

    One is √2·B or 2·B with B = Π B_i, by the rule of `Kernel.diameter`. The other is Σ_i D_i Π_{j≠i} B_j:
    change the factors of ψ_1(x) ⊗ ψ_2(x) ⊗ … into those of y one at a time, and add up the steps.
    """
    widest = math.sqrt(2.0) if all(k.nonnegative for k in kernels) else 2.0
    steps = (
        _product([k.diameter, *(other.bound for j, other in enumerate(kernels) if j != i)])
        for i, k in enumerate(kernels)
    )
    return min(widest * product_bound(kernels), sum(steps))


def _product(values: Iterable[float]) -> float:
    """The product, with 0·∞ = 0: a constant feature adds nothing."""
    factors = list(values)
    return 0.0 if 0.0 in factors else math.prod(factors)


def _parts(kernels: Iterable[Any]) -> tuple[Kernel, ...]:
    parts = tuple(as_kernel(k) for k in kernels)
    if not parts:
        raise KernelError("A sum or product needs at least one kernel, got none.")
    return parts


OPERATIONS |= {"add": add, "multiply": multiply}
