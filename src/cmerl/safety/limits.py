"""Limits on the numbers of an observation, by column or by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.spaces import StateSpace

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits on the numbers of an observation.

    Attributes:
        columns: which numbers are limited (m,).
        low: their smallest allowed values (m,), −∞ where there are none; likewise ``high``.
        names: how messages call them.
    """

    columns: NDArray[np.intp]
    low: FloatArray
    high: FloatArray
    names: tuple[str, ...]

    @classmethod
    def of(cls, limits: Any, states: StateSpace, names: Sequence[str] = ()) -> Limits:
        """Limits as users give them.

        Args:
            limits: column or name → (lo, hi); None for an end that is open.
            states: the observations.
            names: names of their columns, where the environment declares some.
        """
        if not isinstance(limits, Mapping) or not limits:
            raise InputError(f"limits must map columns or names to (lo, hi), not {limits!r}")
        if states.objects:
            raise InputError("limits are on numbers, and these observations hold objects: use a cost function")
        known = _numbers(states, names)
        columns, ends = [], []
        for key, pair in limits.items():
            place = known.get(str(key))
            if place is None or isinstance(key, bool):
                raise InputError(f"limits has {key!r}, but the observation has {', '.join(known)}")
            columns.append(place)
            ends.append(_ends(key, pair))
        low, high = np.array(ends).T
        return cls(np.array(columns, dtype=np.intp), low, high, tuple(str(key) for key in limits))

    def inside(self, numbers: FloatArray) -> NDArray[np.bool_]:
        """Whether observations, as their numbers (…, n), are within the limits (…,)."""
        x = numbers[..., self.columns]
        return np.asarray(((x >= self.low) & (x <= self.high)).all(axis=-1))

    def breach(self, numbers: FloatArray) -> str | None:
        """The violated limit of one observation (n,), in words; None if there is none."""
        for name, x, low, high in zip(self.names, numbers[self.columns], self.low, self.high, strict=True):
            if not low <= x <= high:
                return f"{name} is {x:g}, {'below' if x < low else 'above'} {low if x < low else high:g}"
        return None


def _numbers(states: StateSpace, names: Sequence[str]) -> dict[str, int]:
    """All ways to call the numbers of an observation."""
    count = sum(len(part.low) for part in states.parts)
    known = {str(i): i for i in range(count)}
    start = 0
    for part in states.parts:
        size = len(part.low)
        if part.path:
            keys = [part.name] if size == 1 else [f"{part.name}.{i}" for i in range(size)]
            known |= {key: start + i for i, key in enumerate(keys)}
        start += size
    return known | {str(name): i for i, name in enumerate(names[:count])}


def _ends(key: Any, pair: Any) -> tuple[float, float]:
    try:
        lo, hi = pair
        ends = -math.inf if lo is None else float(lo), math.inf if hi is None else float(hi)
    except (TypeError, ValueError):
        ends = math.nan, math.nan
    if not ends[0] < ends[1]:
        raise InputError(f"the limits of {key!r} must be (lo, hi) with lo < hi, None for an open end, not {pair!r}")
    return ends
