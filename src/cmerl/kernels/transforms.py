"""Transformed kernels: normalized, Gaussian, or on extracted features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cmerl.errors import KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points, UnitDiagonal
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.pullback import Pullback
from cmerl.kernels.stationary import RBF
from cmerl.validation.points import as_points, positive


@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, y)/√(k(x, x) k(y, y)): the cosine of the angle between features."""

    kernel: Kernel

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))

    @property
    def bound(self) -> float:
        """1."""
        return 1.0

    @property
    def nonnegative(self) -> bool:
        """As the kernel."""
        return self.kernel.nonnegative

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m)."""
        own = self._norms(X)
        other = own if Y is None or Y is X else self._norms(Y)
        K = self.kernel(X, Y)
        K /= np.multiply.outer(own, other)
        np.clip(K, -1.0, 1.0, out=K)
        if Y is None or Y is X:
            np.fill_diagonal(K, 1.0)
        return K

    def diag(self, X: Points) -> FloatArray:
        """Ones, shape (n,)."""
        return np.ones(len(self._norms(X)))

    def _norms(self, X: Points) -> FloatArray:
        squares = self.kernel.diag(X)
        if len(squares) and not squares.min() > 0.0:
            raise KernelError(f"Normalized needs k(x, x) > 0, but point {int(np.argmin(squares))} has none.")
        return np.sqrt(squares)


@dataclass(frozen=True)
class Gaussian(UnitDiagonal, Kernel):
    """exp(−‖ψ(x) − ψ(y)‖²/(2ℓ²)) with the features ψ of any kernel; makes that kernel local.

    Args:
        kernel: A kernel, with distance ‖ψ(x) − ψ(y)‖² = k(x, x) + k(y, y) − 2k(x, y).
        lengthscale: ℓ; orthogonal objects of a normalized kernel have distance √2.
    """

    kernel: Kernel
    lengthscale: float = 0.5

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))
        self._store("lengthscale", positive("lengthscale", self.lengthscale))

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m)."""
        same = Y is None or Y is X
        own = self.kernel.diag(X)
        squares = np.add.outer(own, own if same else self.kernel.diag(Y)) - 2.0 * self.kernel(X, Y)  # type: ignore[arg-type]
        K: FloatArray = np.exp(-np.maximum(squares, 0.0) / (2.0 * self.lengthscale**2))
        if same:
            np.fill_diagonal(K, 1.0)
        return K

    def diag(self, X: Points) -> FloatArray:
        """Ones, shape (n,)."""
        return np.ones(len(self.kernel.diag(X)))


@dataclass(frozen=True)
class FeatureMap(Pullback):
    """A vector kernel on features extracted by a function, for example from pictures.

    Args:
        function: ``function(objects)`` returns an array (n, d), one feature row per object.
        kernel: Kernel on those rows.
    """

    function: Callable[[Any], Any]
    kernel: Kernel = field(default_factory=RBF)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise KernelError(f"FeatureMap needs a function of a list of objects, got {self.function!r}.")
        self._store("kernel", as_kernel(self.kernel))

    def _image(self, X: Points) -> FloatArray:
        features = np.asarray(self.function(X))
        if features.ndim != 2 or len(features) != len(X):
            raise KernelError(
                f"the feature map returned shape {features.shape} for {len(X)} objects: return one row (d,) for each"
            )
        finite = np.isfinite(features).all(axis=1) if features.dtype.kind in "biuf" else np.zeros(len(X), dtype=bool)
        if not finite.all():
            raise KernelError(
                f"the feature map returned NaN, infinity or no number for object {int(np.argmin(finite))}"
            )
        return as_points(features)

    def spec(self) -> dict[str, Any]:
        """Always raises: a function cannot be saved."""
        raise KernelError("A kernel with a function inside cannot be saved: write it as a Kernel dataclass.")
