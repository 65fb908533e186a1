"""A kernel on some columns of a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmerl.errors import InputError, KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.pullback import Pullback
from cmerl.validation.points import as_points


@dataclass(frozen=True)
class Columns(Pullback):
    """k(x, y) = kernel(x[columns], y[columns]): ``Columns(RBF(0.1), (0, 1)) * Columns(Delta(), (2,))``."""

    kernel: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))
        columns = tuple(self.columns)
        if not columns or not all(isinstance(c, int | np.integer) and c >= 0 for c in columns):
            raise KernelError(f"columns must be whole numbers of at least 0, at least one, got {self.columns!r}.")
        self._store("columns", tuple(int(c) for c in columns))

    def gradient(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """That of the kernel in its columns, 0 in the others, shape (m, d)."""
        total = np.zeros_like(Y)
        for column, slope in zip(self.columns, self.kernel.gradient(*self._pair(x, Y)).T, strict=True):
            total[:, column] += slope  # a column may be named twice
        return total

    def _pair(self, x: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._image(x[None])[0], self._image(Y)

    def _image(self, X: Points) -> FloatArray:
        points = as_points(X)
        if points.shape[1] <= max(self.columns):
            raise InputError(f"Columns needs column {max(self.columns)}, but the points have {points.shape[1]}.")
        return points[:, self.columns]
