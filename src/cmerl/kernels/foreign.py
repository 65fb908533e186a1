"""Kernels from elsewhere: scikit-learn objects and plain functions.

scikit-learn is never imported here: its kernels are recognised by their methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cmerl.errors import KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.validation.points import as_pair, as_points

_BLOCK = 64  # rows per call when only the diagonal of a function's matrix is wanted


@runtime_checkable
class SklearnLike(Protocol):
    """The methods by which a scikit-learn kernel is recognised."""

    def __call__(self, X: Any, Y: Any = None) -> Any: ...  # noqa: D102
    def diag(self, X: Any) -> Any: ...  # noqa: D102
    def is_stationary(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True)
class SklearnKernel(Kernel):
    """A scikit-learn kernel, e.g. ``sklearn.gaussian_process.kernels.RBF(0.3)``, used unchanged."""

    kernel: Any = field(hash=False)  # scikit-learn kernels compare by value but have no hash

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, SklearnLike):
            raise KernelError(f"SklearnKernel wraps scikit-learn kernels, got {_kind(self.kernel)}.")
        if any(type(part).__name__ == "WhiteKernel" for part in _sklearn_parts(self.kernel)):
            # It gives k(X) ≠ k(X, X), so it is no function of two points.
            raise KernelError("WhiteKernel is observation noise, not a kernel: leave it out and set lam instead.")

    @property
    def bound(self) -> float:
        """√k(0, 0) for a stationary kernel, else infinite."""
        if not self.kernel.is_stationary():
            return math.inf
        return math.sqrt(float(self.kernel.diag(np.zeros((1, 1)))[0]))

    @property
    def nonnegative(self) -> bool:
        """True if built from scikit-learn's non-negative kernels only, by sums, products and powers."""
        return all(
            type(part).__module__.startswith("sklearn.") and type(part).__name__ in _NONNEGATIVE
            for part in _sklearn_parts(self.kernel)
        )

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m)."""
        if getattr(self.kernel, "requires_vector_input", True):
            X, Y = as_pair(X, Y)
        return _finite(np.asarray(self.kernel(X, X if Y is None else Y), dtype=np.float64))

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], shape (n,)."""
        points = as_points(X) if getattr(self.kernel, "requires_vector_input", True) else X
        return _finite(np.asarray(self.kernel.diag(points), dtype=np.float64))

    def spec(self) -> dict[str, Any]:
        """Always raises: a scikit-learn kernel cannot be saved."""
        raise KernelError(
            f"The scikit-learn kernel {self.kernel!r} cannot be saved: use the cmerl kernel of the same name."
        )


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function of two sets of points that returns their kernel matrix.

    Args:
        function: ``function(X, Y)`` returns an array of shape (n, m); positive semi-definiteness is not checked here.
        bound: B ≥ sup √k(x, x), if one is known.
        nonnegative: True if k ≥ 0 everywhere.
    """

    function: Callable[[Any, Any], Any]
    bound: float = math.inf
    nonnegative: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise KernelError(f"CallableKernel wraps a function k(X, Y), got {_kind(self.function)}.")
        if not self.bound > 0.0:
            raise KernelError(f"bound must be positive, got {self.bound!r}.")

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m), in which the function's own array is not overwritten."""
        first = as_points(X) if isinstance(X, np.ndarray) else X
        second = first if Y is None else as_points(Y) if isinstance(Y, np.ndarray) else Y
        K = np.array(self.function(first, second), dtype=np.float64)
        if K.shape != (len(first), len(second)):
            raise KernelError(
                f"The kernel function returned shape {K.shape} for {len(first)} and {len(second)} points."
            )
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise KernelError(f"The kernel function returned NaN or infinity for points {i} and {j}.")
        return K

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], shape (n,), from small diagonal blocks rather than the whole matrix."""
        blocks = [np.diag(self(X[i : i + _BLOCK])) for i in range(0, len(X), _BLOCK)]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def spec(self) -> dict[str, Any]:
        """Always raises: a function cannot be saved."""
        raise KernelError("A kernel given as a function cannot be saved: write it as a Kernel dataclass.")


def _finite(K: FloatArray) -> FloatArray:
    if not np.isfinite(K).all():
        raise KernelError("The kernel function returned NaN or infinity.")
    return K


def as_kernel(obj: Any) -> Kernel:
    """Returns ``obj`` as a `Kernel`.

    Args:
        obj: A `Kernel`, which is returned unchanged; a scikit-learn kernel; or a function k(X, Y) that
            returns a matrix. `CallableKernel` wraps a function together with its bound.

    Raises:
        KernelError: If it is none of these.
    """
    if isinstance(obj, Kernel):
        return obj
    if isinstance(obj, type):
        raise KernelError(f"Expected a kernel, got {_kind(obj)}: write {obj.__name__}(...) to make one.")
    if isinstance(obj, SklearnLike):
        return SklearnKernel(obj)
    if callable(obj):
        return CallableKernel(obj)
    raise KernelError(f"Expected a cmerl kernel, a scikit-learn kernel or a function k(X, Y), got {_kind(obj)}.")


_NONNEGATIVE = {"RBF", "Matern", "RationalQuadratic", "ExpSineSquared", "ConstantKernel"}
_COMBINATIONS = {"Sum", "Product", "Exponentiation"}


def _sklearn_parts(kernel: Any) -> list[Any]:
    """The elementary kernels in a scikit-learn expression."""
    params = kernel.get_params(deep=True).values() if hasattr(kernel, "get_params") else ()
    parts = [kernel, *(p for p in params if isinstance(p, SklearnLike))]
    return [part for part in parts if type(part).__name__ not in _COMBINATIONS]


def _kind(obj: Any) -> str:
    return f"the class {obj.__name__}" if isinstance(obj, type) else f"{type(obj).__name__} {obj!r}"
