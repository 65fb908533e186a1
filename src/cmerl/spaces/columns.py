"""The numbers of an observation as columns of [0, 1], angles as points of a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.spaces.parts import Part

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

WIDEST = 1e8  # declared bounds farther apart than this mean that there are none

Angles = Sequence[int | str] | Mapping[int | str, float]
"""Columns that come back to where they were: by number or name, with the period if it is not 2π."""


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """The encoding of each number: (x − low)/scale, or cosine and sine of an angle.

    The columns seen are those that are no angles, in order, then the cosines, then the sines.

    Attributes:
        low: what becomes 0 (n,).
        scale: how much becomes 1 (n,).
        category: numbers that are equal or not, and seen as they are (n,).
        bounded: whether the space declares bounds that can be used (n,).
        period: of angles, else 0 (n,).
        origin: the least number that an angle is decoded to (n,).
    """

    low: FloatArray
    scale: FloatArray
    category: BoolArray
    bounded: BoolArray
    period: FloatArray
    origin: FloatArray

    @classmethod
    def of(cls, parts: Sequence[Part], angles: Angles = (), origin: Sequence[float] | None = None) -> ColumnScale:
        """The scale for all parts, one after the other; angles are decoded to half a period around 0 by default."""
        low, high = (np.concatenate([getattr(p, name) for p in parts]) for name in ("low", "high"))
        category = np.concatenate([np.full(len(p.low), p.kind != "numbers") for p in parts])
        with np.errstate(over="ignore"):
            width = high - low
        bounded = (width > 0) & (width <= WIDEST) & ~category
        period = _periods(parts, angles)
        if np.any(category & (period > 0)):
            raise InputError("angles must name columns of numbers, not of categories")
        least = -period / 2.0 if origin is None else np.array(origin, dtype=np.float64)
        return cls(np.where(bounded, low, 0.0), np.where(bounded, width, 1.0), category, bounded, period, least)

    def with_angles(self, period: FloatArray, origin: FloatArray) -> ColumnScale:
        """The same with more angles: their periods (n,), 0 for numbers that stay as they are, and origins (n,)."""
        new = period > 0
        return replace(self, period=np.where(new, period, self.period), origin=np.where(new, origin, self.origin))

    @property
    def labels(self) -> list[tuple[int, str]]:
        """For each of the columns that are seen, the number that it shows, and which side of it."""
        straight, circles = np.flatnonzero(~self.angle).tolist(), np.flatnonzero(self.angle).tolist()
        return [*((i, "itself") for i in straight), *((i, "cos") for i in circles), *((i, "sin") for i in circles)]

    def recoded(self, rows: FloatArray, other: ColumnScale) -> FloatArray:
        """Rows (q, d) as another scale encodes them; columns that both have stay bit for bit."""
        found, mine = other.apply(self.invert(rows)), self.labels
        for j, label in enumerate(other.labels):
            if label in mine:
                found[:, j] = rows[:, mine.index(label)]
        return found

    @cached_property
    def angle(self) -> BoolArray:
        """Which numbers are angles (n,)."""
        return np.asarray(self.period > 0)

    @property
    def dims(self) -> int:
        """Columns that kernels see."""
        return len(self.low) + int(self.angle.sum())

    def seen(self, of_numbers: BoolArray, of_circles: bool) -> BoolArray:
        """A property of numbers (n,) as one of the columns that are seen (d,)."""
        circles = np.full(2 * int(self.angle.sum()), of_circles)
        return np.concatenate([of_numbers[~self.angle], circles])

    def apply(self, X: FloatArray) -> FloatArray:
        """Raw rows (q, n) as kernels see them (q, d)."""
        scaled: FloatArray = (X - self.low) / self.scale
        angle = self.angle
        if angle.any():
            turn = 2.0 * np.pi * X[:, angle] / self.period[angle]
            scaled = np.hstack([scaled[:, ~angle], (1.0 + np.cos(turn)) / 2.0, (1.0 + np.sin(turn)) / 2.0])
        scaled += 0.0  # no negative zeros: equal states must have equal bytes
        return scaled

    def invert(self, rows: FloatArray) -> FloatArray:
        """The raw numbers (q, n) behind rows (q, d); angles within a period from their origin on."""
        angle, k = self.angle, int(self.angle.sum())
        straight = rows[:, : len(angle) - k]
        X = np.empty((len(rows), len(angle)))
        X[:, ~angle] = straight * self.scale[~angle] + self.low[~angle]
        if k:
            cos, sin = 2.0 * rows[:, -2 * k : -k] - 1.0, 2.0 * rows[:, -k:] - 1.0
            period, origin = self.period[angle], self.origin[angle]
            turned = np.arctan2(sin, cos) * period / (2.0 * np.pi)
            X[:, angle] = turned + period * np.ceil(np.maximum((origin - turned) / period, 0.0))
        return X


def _periods(parts: Sequence[Part], angles: Any) -> FloatArray:
    """Period of every number, 0 where it has none (n,)."""
    sizes = [len(p.low) for p in parts]
    period = np.zeros(sum(sizes))
    starts = dict(zip([p.name for p in parts], np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    if isinstance(angles, str) or not isinstance(angles, Sequence | Mapping):
        raise InputError(f"angles must be a list of columns or names, or a map from them to periods, not {angles!r}")
    for key in angles:
        length = angles[key] if isinstance(angles, Mapping) else 2.0 * np.pi
        if isinstance(length, bool) or not isinstance(length, int | float) or not 0.0 < length < np.inf:
            raise InputError(f"the period of the angle {key!r} must be a positive number, not {length!r}")
        if isinstance(key, str) and key in starts:
            start = starts[key]
            period[start : start + len(parts[list(starts).index(key)].low)] = length
        elif str(key).isdecimal() and int(key) < len(period):
            period[int(key)] = length
        else:
            names = ", ".join(repr(p.name) for p in parts if p.path)
            has = f"columns 0 to {len(period) - 1}" + (f" and parts {names}" if names else "")
            raise InputError(f"angles has {key!r}, but the observation has {has}")
    return period
