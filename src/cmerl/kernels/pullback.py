"""Kernels on a function of a point: a part, its features, or the object with its number."""

from __future__ import annotations

from abc import abstractmethod

from cmerl.kernels.base import FloatArray, Kernel, Points


class Pullback(Kernel):
    """k(x, y) = kernel(f(x), f(y)); a subclass has the field ``kernel`` and says what f is.

    Features of x are those of f(x), so whatever bounds them for the kernel bounds them here.
    """

    kernel: Kernel

    @property
    def bound(self) -> float:
        """As the kernel."""
        return self.kernel.bound

    @property
    def nonnegative(self) -> bool:
        """As the kernel."""
        return self.kernel.nonnegative

    @property
    def diameter(self) -> float:
        """As the kernel."""
        return self.kernel.diameter

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m)."""
        return self.kernel(self._image(X), None if Y is None or Y is X else self._image(Y))

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], shape (n,)."""
        return self.kernel.diag(self._image(X))

    @abstractmethod
    def _image(self, X: Points) -> Points:
        """F at every point."""
