"""Terminations: beyond limits that no other state has crossed, else by the nearest neighbour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import farthest_points
from cmerl.searching.simulator import Ends, Limit

FloatArray = NDArray[np.float64]


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
    """The first terminal value beyond the bound in each column; the bound if there is none."""
    beyond = sign * (ended - bound)
    return np.asarray(bound + sign * np.where(beyond > 0, beyond, np.inf).min(axis=0, initial=np.inf))


def terminations(ended: FloatArray, rewards: FloatArray, alive: FloatArray, survivors: int = 400) -> Ends:
    """The termination rule of states, and its reward.

    Args:
        ended: states that did (n, d), n > 0.
        rewards: what that paid (n,).
        alive: states that did not (m, d).
        survivors: most of those that are kept to tell ends from.
    """
    if not len(alive):
        return Ends(ended, rewards, alive, None)
    kept = alive[farthest_points(alive, survivors, apart=0.05)[0]]
    return Ends(ended, rewards, kept, find_limits(ended, alive))
