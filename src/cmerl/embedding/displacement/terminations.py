"""Where episodes end: beyond limits that no surviving state has crossed, else near where they ended before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import farthest_points

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

Limit = tuple[FloatArray, FloatArray]
"""A corner (lower (d,), upper (d,)): what lies outside it in every direction where it is finite has ended."""


def find_limits(ended: FloatArray, alive: FloatArray) -> list[Limit] | None:
    """Few limits that all ended states (n, d) have crossed and no surviving state (m, d) has; None if there are none.

    One of the directions that explain most ends is taken after the other; directions that explain the same ends
    cannot be told apart, and must all be crossed.
    """
    lower, upper = alive.min(axis=0), alive.max(axis=0)
    outside = np.hstack([ended < lower, ended > upper])  # (n, 2d)
    middle = np.append((lower + _nearest(ended, lower, -1)) / 2, (upper + _nearest(ended, upper, 1)) / 2)
    limits: list[Limit] = []
    left = np.ones(len(ended), dtype=bool)
    while left.any():
        counts = outside[left].sum(axis=0)
        best = int(np.argmax(counts))
        if counts[best] == 0:
            return None
        same = np.all(outside[left] == outside[left][:, [best]], axis=0)
        values = np.where(same, middle, np.nan)
        d = len(lower)
        limits.append((values[:d], values[d:]))
        left &= ~outside[:, best]
    return limits


def _nearest(ended: FloatArray, bound: FloatArray, sign: int) -> FloatArray:
    """In each column, the ended value that is the first beyond the bound; the bound where none is."""
    beyond = sign * (ended - bound)
    return np.asarray(bound + sign * np.where(beyond > 0, beyond, np.inf).min(axis=0, initial=np.inf))


class Terminations:
    """Tells whether a state has ended the episode, and what that paid.

    Args:
        ended: states that did (n, d), n > 0.
        rewards: what that paid (n,).
        alive: states that did not (m, d).
        survivors: most of those that are kept to tell ends from.
    """

    def __init__(self, ended: FloatArray, rewards: FloatArray, alive: FloatArray, survivors: int = 400) -> None:
        self._ended, self._rewards = ended, rewards
        self._alike = bool(np.all(rewards == rewards[0]))
        self._limits = find_limits(ended, alive) if len(alive) else None
        self._alive = alive[farthest_points(alive, survivors, apart=0.05)[0]] if len(alive) else alive

    def __call__(self, y: NDArray[Any]) -> tuple[BoolArray, FloatArray]:
        """Whether states (q, d) have ended, and where they have, the reward of the nearest end (q,)."""
        if self._limits is None:
            to_ends = _squared_distances(y, self._ended)
            to_alive = _squared_distances(y, self._alive).min(axis=1, initial=np.inf)
            return to_ends.min(axis=1) < to_alive, self._rewards[np.argmin(to_ends, axis=1)]
        crossed = np.zeros(len(y), dtype=bool)
        for lower, upper in self._limits:
            inside = (y >= lower) | (y <= upper)  # comparisons with nan are false
            crossed |= ~np.any(inside, axis=1)
        rewards = np.full(len(y), self._rewards[0])
        if not self._alike and crossed.any():  # the others are not asked what an end pays
            rewards[crossed] = self._rewards[np.argmin(_squared_distances(y[crossed], self._ended), axis=1)]
        return crossed, rewards


def _squared_distances(X: NDArray[Any], Y: FloatArray) -> FloatArray:
    """Up to a constant in each row."""
    return np.asarray(np.square(Y).sum(axis=1) - 2.0 * (X @ Y.T))
