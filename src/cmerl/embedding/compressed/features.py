"""Feature maps: what a compressed embedding needs from its coordinates, and random ones."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import KernelError
from cmerl.growing import Arrays
from cmerl.kernels import RBF, Kernel, Matern
from cmerl.linalg import random_rotation
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]


class FrozenFeatures(Protocol):
    """A feature map at one moment."""

    def coordinates(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Coordinates (m, k) and residuals ρ² (k,) of points."""
        ...

    def slopes(self, x: FloatArray, columns: int) -> FloatArray:
        """Derivatives (m, columns) of the coordinates by the last columns of one point (d,)."""
        ...


class Tracker(Protocol):
    """Coordinates W (m, q) and residuals (q,) at a growing list of queries."""

    variance: FloatArray

    @property
    def W(self) -> FloatArray:
        """Coordinates of the queries (m, q)."""
        ...

    def refresh(self, queries: Points) -> None:
        """Extend to the given queries, which continue those given before."""
        ...

    def arrays(self) -> Arrays:
        """All that is kept, for saving."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        ...


class Features(FrozenFeatures, Protocol):
    """Coordinates φ̃ in which a kernel is approximately φ̃(x)ᵀφ̃(y), with what they leave over."""

    kernel: Kernel

    def __len__(self) -> int:
        """Number of coordinates so far."""
        ...

    @property
    def full(self) -> bool:
        """Whether no coordinate can be added."""
        ...

    def absorb(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Coordinates (m, k) and residuals (k,) of points in order, adding coordinates where they are missing."""
        ...

    def choose(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Start again with coordinates chosen for X; its coordinates (m, k) and residuals (k,)."""
        ...

    def settle(self, before: Any, X: Points) -> FloatArray | None:
        """After absorbing X: how coordinates of ``before`` change (m, m_before), where accuracy asks for it."""
        ...

    def freeze(self) -> Any:
        """The map as it is now, a ``FrozenFeatures``."""
        ...

    def tracker(self) -> Tracker:
        """A cache of coordinates at growing queries."""
        ...

    def arrays(self) -> Arrays:
        """All that is kept, for saving."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        ...


class FourierFeatures:
    """Random Fourier features of an RBF or Matérn kernel: φ̃(x) = √(2/m)·(cos(ωx), sin(ωx)) pairs.

    They have no residual, so the variance starves where data are many: bonuses built on it are heuristic.

    Args:
        kernel: RBF or Matern.
        count: number of features, even.
        rng: source of the frequencies.
        orthogonal: draw frequencies in orthogonal blocks, which lowers the error of the kernel.
    """

    def __init__(self, kernel: Kernel, count: int, rng: np.random.Generator, *, orthogonal: bool = False) -> None:
        if not isinstance(kernel, RBF | Matern):
            raise KernelError(f"random Fourier features are known for RBF and Matern kernels, not for {kernel!r}")
        self.kernel: Kernel = kernel
        self._count = 2 * max(count // 2, 1)
        self._rng, self._orthogonal = rng, orthogonal
        self._frequencies: FloatArray | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def full(self) -> bool:
        """Always: the number of features is fixed."""
        return True

    def coordinates(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Features (m, k) and residuals, which are 0 by construction (k,)."""
        X = np.asarray(X, dtype=np.float64)
        if self._frequencies is None:
            self._frequencies = self._draw(X.shape[1])
        angles = self._frequencies @ X.T
        features = np.concatenate([np.cos(angles), np.sin(angles)]) * np.sqrt(2.0 / self._count)
        return features, np.zeros(len(X))

    absorb = coordinates
    choose = coordinates

    def slopes(self, x: FloatArray, columns: int) -> FloatArray:
        """Derivatives (m, columns) of the features by the last columns of one point (d,)."""
        half = self._count // 2
        F = self.coordinates(x[None])[0]
        assert self._frequencies is not None  # drawn by now
        turned = np.concatenate([-F[half:], F[:half]])
        return np.asarray(turned * np.tile(self._frequencies[:, -columns:], (2, 1)))

    def settle(self, before: Any, X: Points) -> None:
        """Frequencies never change."""

    def freeze(self) -> FourierFeatures:
        """Frequencies never change."""
        return self

    def tracker(self) -> FourierTracker:
        """A cache of features at growing queries."""
        return FourierTracker(self)

    def arrays(self) -> Arrays:
        """The frequencies, none before the first point."""
        return {"frequencies": np.empty((0, 0)) if self._frequencies is None else self._frequencies}

    def restore(self, arrays: Arrays) -> None:
        """Continue with the frequencies that were saved."""
        self._frequencies = arrays["frequencies"] if len(arrays["frequencies"]) else None

    def _draw(self, d: int) -> FloatArray:
        """Frequencies (m/2, d) from the kernel's spectral measure."""
        assert isinstance(self.kernel, RBF | Matern)
        half, rng = self._count // 2, self._rng
        if self._orthogonal:
            blocks = [random_rotation(d, rng) for _ in range(-(-half // d))]
            directions = np.concatenate(blocks)[:half]
            lengths = np.sqrt(rng.chisquare(d, half))
            omega = directions * lengths[:, None]
        else:
            omega = rng.standard_normal((half, d))
        if isinstance(self.kernel, Matern):  # a multivariate Student t with 2ν degrees of freedom
            nu2 = 2.0 * self.kernel.nu
            omega = omega * np.sqrt(nu2 / rng.chisquare(nu2, half))[:, None]
        return np.asarray(omega / np.asarray(self.kernel.lengthscale))


class FourierTracker:
    """Features at a growing list of queries."""

    def __init__(self, features: FourierFeatures) -> None:
        self._features = features
        self._columns = np.zeros((len(features), 0))
        self.variance = np.zeros(0)

    @property
    def W(self) -> FloatArray:
        """Features of the queries (m, q)."""
        return self._columns

    def arrays(self) -> Arrays:
        """The features."""
        return {"columns": self._columns, "variance": self.variance}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self._columns, self.variance = arrays["columns"], arrays["variance"]

    def refresh(self, queries: Points) -> None:
        """Extend to the given queries."""
        done = self._columns.shape[1]
        if len(queries) > done:
            new, residual = self._features.coordinates(queries[done:])
            self._columns = np.hstack([self._columns, new])
            self.variance = np.concatenate([self.variance, residual])
