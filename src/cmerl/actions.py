"""Continuous actions: which candidates to consider, and how to do better than the best of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

PER_DIMENSION = 8  # candidates for each dimension of the action, besides the first
MOST_CANDIDATES = 65  # a plan costs in proportion
DIFFERENCE = 0.05  # between actions whose Q is compared: Q may be in single precision
NEAR = 0.05  # what lies closer to a candidate need not be one
MOST_PLAYED = 300  # actions of the past that candidates are chosen from
ROUNDS = 3  # of refinement
LENGTHS = 0.5 ** np.arange(2, 10)  # of steps; the longest is about half the distance between candidates


def candidates(zero: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Actions (A, d) that cover the cube [−1, 1]^d: doing nothing, corners, and a low-discrepancy set between them.

    One dimension has an even grid. More have Sobol points scrambled by ``rng``, and all corners if they are at most
    half of the set, else as many that point as evenly into all directions.

    Args:
        zero: what doing nothing is (d,), the first candidate.
        rng: scrambles.
    """
    d = len(zero)
    count = min(1 + PER_DIMENSION * d, MOST_CANDIDATES)
    if d == 1:
        inner = np.linspace(-1.0, 1.0, count)[:, None]
        return _distinct(np.vstack([zero, inner]))
    most_corners = count // 2
    corners = np.sign(sobol(most_corners, d, rng) - 0.5)
    if 2**d <= most_corners:
        corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * d, indexing="ij"), axis=-1).reshape(-1, d)
    corners = _distinct(corners)
    inner = 2.0 * sobol(count - 1 - len(corners), d, rng) - 1.0
    return _distinct(np.vstack([zero, corners, inner]))


def sobol(count: int, d: int, rng: np.random.Generator) -> FloatArray:
    """The first ``count`` points of a scrambled Sobol sequence in [0, 1)^d."""
    from scipy.stats import qmc  # slow to import, and only some action spaces need it

    power = max(int(np.ceil(np.log2(max(count, 1)))), 0)
    points: FloatArray = qmc.Sobol(d, scramble=True, seed=rng).random_base2(power)
    return points[:count]


def refine(
    q: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    value: float,
) -> FloatArray:
    """A better action than the best candidate: projected gradient ascent, never worse than where it starts.

    In each round Q is evaluated at steps of many lengths along the gradient, all at once, which takes hardly longer
    than one; the best of them is where the next round begins.

    Args:
        q: values (k,) of actions (k, d) in [−1, 1]^d.
        slope: the gradient of Q (d,) at one action (d,).
        start: the best candidate (d,).
        value: its Q.
    """
    x, best = start, value
    for _ in range(ROUNDS):
        uphill = slope(x)
        uphill = np.where((x * uphill > 0.0) & (np.abs(x) >= 1.0), 0.0, uphill)  # no way out of the cube
        steepness = float(np.linalg.norm(uphill))
        # Between hills, as where one action was played again and again, no direction is uphill: all axes are tried.
        ways = uphill[None] / steepness if steepness > 0.0 else np.vstack([np.eye(len(x)), -np.eye(len(x))])
        tried = np.clip(x + (LENGTHS[:, None, None] * ways).reshape(-1, len(x)), -1.0, 1.0)
        values = q(tried)
        i = int(np.argmax(values))
        if values[i] <= best:
            break
        x, best = tried[i], float(values[i])
    return x


def slope_by_differences(q: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """The gradient (d,) of Q at one action (d,), from Q on both sides along every axis."""
    arms = DIFFERENCE * np.eye(len(x))
    ahead, behind = np.split(q(np.vstack([x + arms, x - arms])), 2)
    return np.asarray((ahead - behind) / (2.0 * DIFFERENCE))


def followed(fixed: FloatArray, played: FloatArray, count: int) -> FloatArray:
    """Some of the actions played (k, d), so that with fixed candidates every one of them has one near.

    What a plan loses for want of candidates grows with the square of the distance from the best action to the nearest
    of them: one by one, those are chosen that lower the sum of these squares most.

    Args:
        fixed: candidates that there are in any case (A, d).
        played: actions played (n, d).
        count: most to choose.
    """
    some = played[np.linspace(0, len(played) - 1, min(len(played), MOST_PLAYED)).astype(np.intp)]
    between = np.square(some[:, None] - some).sum(axis=2)
    left = np.square(some[:, None] - fixed).sum(axis=2).min(axis=1)
    chosen: list[int] = []
    while len(chosen) < count:
        gains = np.maximum(left[:, None] - between, 0.0).sum(axis=0)
        best = int(np.argmax(gains))
        if gains[best] <= NEAR**2:
            break
        chosen.append(best)
        left = np.minimum(left, between[:, best])
    return some[chosen]


def _distinct(rows: FloatArray) -> FloatArray:
    """Rows without repeats, in the order of their first appearance."""
    first = np.unique(rows, axis=0, return_index=True)[1]
    return rows[np.sort(first)]
