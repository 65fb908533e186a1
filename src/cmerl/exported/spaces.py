"""Conversion of observations and actions of an exported policy to and from rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, shown

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Observations:
    """Observations as rows: the parts of a Dict or Tuple side by side, scaled, angles as points of a circle.

    Attributes:
        parts: for each array inside an observation the keys that lead to it, and its shape.
        low: what becomes 0 (n,).
        scale: how much becomes 1 (n,).
        period: of angles, else 0 (n,).
    """

    parts: tuple[tuple[tuple[str | int, ...], tuple[int, ...]], ...]
    low: FloatArray
    scale: FloatArray
    period: FloatArray

    @cached_property
    def _angle(self) -> NDArray[np.bool_] | None:
        angle = np.asarray(self.period > 0)
        return angle if angle.any() else None

    def encode(self, obs: Any) -> FloatArray:
        """One observation as a row (d,), checked."""
        if len(self.parts) == 1 and not self.parts[0][0]:
            raw = _numbers(obs, self.parts[0][1], obs)
        else:
            raw = np.concatenate([_numbers(_find(obs, path), shape, obs) for path, shape in self.parts])
        row: FloatArray = (raw - self.low) / self.scale
        if (angle := self._angle) is not None:
            turn = 2.0 * np.pi * raw[angle] / self.period[angle]
            row = np.concatenate([row[~angle], (1.0 + np.cos(turn)) / 2.0, (1.0 + np.sin(turn)) / 2.0])
        return row + 0.0


def _find(obs: Any, path: tuple[str | int, ...]) -> Any:
    value = obs
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise InputError(f"the observation has no part {'.'.join(map(str, path))!r}: {shown(obs)}") from None
    return value


def _numbers(value: Any, shape: tuple[int, ...], obs: Any) -> FloatArray:
    try:
        x = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the observation is not numeric: {shown(obs)}") from None
    if x.shape != shape:
        raise InputError(f"the observation has shape {x.shape} where the policy expects {shape}: {shown(obs)}")
    if not np.isfinite(x).all():
        raise InputError(f"the observation is NaN or infinite: {shown(obs)}")
    return x.ravel()


@dataclass(frozen=True, eq=False)
class Actions:
    """Candidate actions.

    Attributes:
        values: as the environment takes them, flattened (A, n).
        shape: of an action; () for a number.
        dtype: of an array.
        low: where actions are continuous, what a row's −1 stands for (n,), else None.
        high: and its 1.
    """

    values: FloatArray
    shape: tuple[int, ...]
    dtype: str
    low: FloatArray | None = None
    high: FloatArray | None = None

    def value(self, which: int) -> Any:
        """One of the candidates."""
        found = self.values[which]
        return int(found[0]) if not self.shape and self.low is None else found.reshape(self.shape).astype(self.dtype)

    def decode(self, row: FloatArray) -> Any:
        """Any continuous action behind a row (n,) in [−1, 1]ⁿ."""
        assert self.low is not None
        assert self.high is not None
        found = self.low + (row + 1.0) / 2.0 * (self.high - self.low)
        if np.dtype(self.dtype).kind != "f":
            found = np.rint(found)
        low, high = self.low.astype(self.dtype), self.high.astype(self.dtype)
        return np.clip(found.astype(self.dtype), low, high).reshape(self.shape)


def check_step(step: Any, horizon: int) -> None:
    """Refuse what is not a step of an episode."""
    if isinstance(step, bool) or not isinstance(step, int | np.integer) or not 0 <= step < horizon:
        raise InputError(f"step must be a whole number from 0 to {horizon - 1}, not {step!r}")
