"""Template of a kernel. Copy, rename, replace the mathematics, and run: python kernel.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import cmerl
from cmerl.kernels import VectorKernel
from cmerl.validation.points import positive

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Triangular(VectorKernel):
    """k(x, y) = Π_j max(0, 1 − |x_j − y_j|/ℓ): nothing farther than ℓ counts.

    Attributes:
        lengthscale: ℓ, one for all columns.
    """

    lengthscale: float = 1.0

    def __post_init__(self) -> None:
        self._store("lengthscale", positive("lengthscale", self.lengthscale))  # the class is frozen

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """K (n, m) of X (n, d) and Y (m, d), which are checked already."""
        near = 1.0 - np.abs(X[:, None, :] - Y[None, :, :]) / self.lengthscale
        return np.asarray(np.maximum(near, 0.0).prod(axis=-1))

    def _diag(self, X: FloatArray) -> FloatArray:
        """k(x, x) for each row (n,)."""
        return np.ones(len(X))

    @property
    def bound(self) -> float:
        """The largest √k(x, x)."""
        return 1.0

    @property
    def nonnegative(self) -> bool:
        """Whether k ≥ 0 everywhere: a smaller radius follows."""
        return True


if __name__ == "__main__":
    points = np.random.default_rng(0).normal(size=(40, 3))  # such as states that an agent meets
    report = cmerl.check_kernel(Triangular(0.5), points)
    print(report)
    raise SystemExit(not report.ok)
