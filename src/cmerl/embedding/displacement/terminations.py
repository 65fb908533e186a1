"""Terminations: beyond limits that no other state has crossed, else by the nearest neighbour; and what they pay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import farthest_points
from cmerl.linalg import Cholesky
from cmerl.searching.simulator import Ends, Limit, end_kernel

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


def terminations(ended: FloatArray, rewards: FloatArray, alive: FloatArray, centres: int, ridge: float) -> Ends:
    """The termination rule of states, and its reward.

    What an end pays is regressed, with a linear trend: no episode may have ended well yet, and where it would end
    better must show all the same. Survivors are only compared with where no limits are found.

    Args:
        ended: states that did (n, d), n > 0.
        rewards: what that paid (n,).
        alive: states that did not (m, d).
        centres: most of those that are compared with; a regression has as many.
        ridge: of the regression of rewards.
    """
    limits = find_limits(ended, alive) if len(alive) else None
    if limits is None and len(alive):
        alive = alive[farthest_points(alive, centres)[0]]
    coef = Cholesky.of(end_kernel(ended, ended), ridge).solve(rewards - rewards.mean())
    return Ends(ended, rewards, alive if limits is None else alive[:0], limits, coef)
