"""Transitions in the units of a displacement model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Motion:
    """The data in the units of the model.

    Attributes:
        x: states (n, d) of unit variance.
        a: features of the actions (n, e).
        y: next states (n, d).
        r: rewards (n,).
        ended: whether the episode terminated there (n,).
    """

    x: FloatArray
    a: FloatArray
    y: FloatArray
    r: FloatArray
    ended: BoolArray

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: NDArray[np.intp] | BoolArray) -> Motion:
        return Motion(self.x[rows], self.a[rows], self.y[rows], self.r[rows], self.ended[rows])

    @property
    def z(self) -> FloatArray:
        """State-actions (n, d + e)."""
        return np.hstack([self.x, self.a])

    @property
    def alive(self) -> Motion:
        """The rows that do not end an episode; all, if every row does."""
        return self if self.ended.all() else self[~self.ended]

    @property
    def breaks(self) -> BoolArray:
        """Whether the next row does not follow from a row (n,)."""
        return np.append(np.any(self.y[:-1] != self.x[1:], axis=1), True)


def varies(spread: float, size: float, *, least: float = 1e-9) -> bool:
    """Whether numbers of this standard deviation and size differ by more than rounding."""
    return spread > least * size
