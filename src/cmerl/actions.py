"""Continuous actions: which candidates to consider, and how to do better than the best of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

PER_DIMENSION = 8  # candidates for each dimension of the action, besides the first
MOST_CANDIDATES = 65  # a plan costs in proportion
ROUNDS = 2  # of refinement, each at a quarter of the distance


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


def refine(q: Callable[[FloatArray], FloatArray], start: FloatArray, value: float, radius: float) -> FloatArray:
    """A better action near the best candidate: slopes and curvatures of Q there, and the top of the parabola.

    In each round Q is evaluated on both sides along every axis, and where the parabolas through these values are
    highest; the best action seen is where the next round begins, so that the result is never worse than the start.

    Args:
        q: values (k,) of actions (k, d) in [−1, 1]^d.
        start: the best candidate (d,).
        value: its Q.
        radius: how far other candidates are.
    """
    x, best, d = start, value, len(start)
    for _ in range(ROUNDS):
        arms = radius * np.eye(d)
        around = np.clip(np.vstack([x + arms, x - arms]), -1.0, 1.0)
        values = q(around)
        step = _vertex(np.diagonal(around[:d] - x), np.diagonal(around[d:] - x), values[:d] - best, values[d:] - best)
        top = np.clip(x + step, -1.0, 1.0)[None]
        tried, found = np.vstack([around, top]), np.append(values, q(top))
        i = int(np.argmax(found))
        if found[i] > best:
            x, best = tried[i], float(found[i])
        radius /= 4.0
    return x


def _vertex(right: FloatArray, left: FloatArray, rise: FloatArray, fall: FloatArray) -> FloatArray:
    """Where parabolas through (left, fall), (0, 0), (right, rise) are highest between left and right (d,)."""
    width = np.where(right * left * (right - left) != 0.0, right * left * (right - left), 1.0)
    bend = (rise * left - fall * right) / width
    slope = (fall * right**2 - rise * left**2) / width
    uphill = np.where(rise > fall, right, left)
    return np.where(bend < 0.0, np.clip(-slope / np.where(bend < 0.0, 2.0 * bend, 1.0), left, right), uphill)


def _distinct(rows: FloatArray) -> FloatArray:
    """Rows without repeats, in the order of their first appearance."""
    first = np.unique(rows, axis=0, return_index=True)[1]
    return rows[np.sort(first)]
