"""The base of kernels: matrices, constants, arithmetic and saving."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cmerl import notebooks
from cmerl.errors import KernelError
from cmerl.validation.points import as_pair, as_points

FloatArray: TypeAlias = NDArray[np.float64]
OPERATIONS: dict[str, Callable[..., Any]] = {}
"""What composite.py and spec.py can do for every kernel: they import this module and enter themselves here."""

Points: TypeAlias = FloatArray | Sequence[Any]
"""n×d float64 array, or a list of objects for structured kernels."""

REGISTRY: dict[str, type[Kernel]] = {}
"""Kernel classes by name; this is where `from_spec` looks."""

DIFFERENCE = 1e-5  # between points, where a gradient is found by differences: halves the digits, but no more


def finite(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a user's kernel, whose NaN or infinity is an error rather than an answer."""

    @wraps(method)
    def checked(self: Any, *arguments: Any, **options: Any) -> Any:
        found = method(self, *arguments, **options)
        if not np.all(np.isfinite(found)):
            raise KernelError(f"the kernel {type(self).__name__} returned NaN or infinity: it must be finite")
        return found

    return checked


class UnitDiagonal:
    """Kernels with k(x, x) = 1 and 0 ≤ k ≤ 1: the diameter is √2, attained by points with nothing in common."""

    @property
    def bound(self) -> float:
        """1, as k(x, x) = 1."""
        return 1.0

    @property
    def nonnegative(self) -> bool:
        """True."""
        return True


@dataclass(frozen=True)
class Kernel(ABC):
    """A positive semi-definite function k(x, y) = ⟨ψ(x), ψ(y)⟩.

    A kernel of your own is a frozen dataclass with `__call__`, `diag` and `bound`; the rest follows. Kernels
    on numeric vectors are easier to derive from `VectorKernel`, which validates the points.
    """

    # NumPy would otherwise take `np.float64(2) * k` apart element by element instead of asking us.
    __array_ufunc__: ClassVar[None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        known = REGISTRY.setdefault(cls.__name__, cls)
        # The same module may define a class again (a notebook cell run twice), but a saved "RBF" must never
        # come back as somebody else's RBF.
        if known.__module__ != cls.__module__:
            raise KernelError(
                f"A kernel named {cls.__name__} already exists in {known.__module__}: choose another name."
            )
        REGISTRY[cls.__name__] = cls
        if not cls.__module__.startswith("cmerl."):  # ours are finite on finite points, or say so themselves
            for name in ("__call__", "diag", "gradient", "_matrix", "_diag"):
                if callable(cls.__dict__.get(name)):
                    setattr(cls, name, finite(cls.__dict__[name]))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return notebooks.facts(type(self).__name__, {field.name: getattr(self, field.name) for field in fields(self)})

    @abstractmethod
    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], a new array of shape (n, m) that the caller may overwrite.

        Args:
            X: n points.
            Y: m points; None means ``X`` itself.
        """

    @abstractmethod
    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], a new array of shape (n,)."""

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """∂k(x, y_j)/∂x at one point (d,), a row for each of m points ``Y``: shape (m, d).

        By central differences, where a kernel does not know better.
        """
        steps = DIFFERENCE * np.eye(len(x))
        rise: FloatArray = self(x + steps, Y) - self(x - steps, Y)
        return rise.T / (2.0 * DIFFERENCE)

    @property
    @abstractmethod
    def bound(self) -> float:
        """B ≥ sup √k(x, x); infinite if the kernel is unbounded."""

    @property
    def nonnegative(self) -> bool:
        """True if k(x, y) ≥ 0 is known for all x and y."""
        return False

    @property
    def diameter(self) -> float:
        """D ≥ sup ‖ψ(x) − ψ(y)‖, from ‖ψ(x) − ψ(y)‖² = k(x, x) + k(y, y) − 2k(x, y)."""
        return (math.sqrt(2.0) if self.nonnegative else 2.0) * self.bound

    def spec(self) -> dict[str, Any]:
        """A JSON-able description, ``{"type": "RBF", "lengthscale": 1.0}``, that `from_spec` turns back."""
        described: dict[str, Any] = OPERATIONS["spec"](self)
        return described

    def __add__(self, other: Kernel | float) -> Kernel:
        return _compose("add", self, other)

    def __radd__(self, other: Kernel | float) -> Kernel:
        return _compose("add", other, self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        return _compose("multiply", self, other)

    def __rmul__(self, other: Kernel | float) -> Kernel:
        return _compose("multiply", other, self)

    def _store(self, name: str, value: Any) -> None:
        """Sets a field to its canonical value; for ``__post_init__`` only, as instances are frozen."""
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class VectorKernel(Kernel):
    """A kernel on numeric vectors. Subclasses receive validated float64 arrays (n, d)."""

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m), for ``X`` (n, d) and ``Y`` (m, d) or None."""
        first, second = as_pair(X, Y)
        self._check(first)
        if second is not first:
            self._check(second)
        return self._matrix(first, second)

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], shape (n,)."""
        points = as_points(X)
        self._check(points)
        return self._diag(points)

    def _check(self, X: FloatArray) -> None:
        """Raises `InputError` if ``X`` (n, d) is not in this kernel's domain."""

    @abstractmethod
    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """The matrix (n, m); ``Y is X`` when a symmetric one is wanted."""

    @abstractmethod
    def _diag(self, X: FloatArray) -> FloatArray:
        """The diagonal (n,)."""


def _compose(operation: str, first: Kernel | float, second: Kernel | float) -> Kernel:
    made: Kernel = OPERATIONS[operation](first, second)
    return made
