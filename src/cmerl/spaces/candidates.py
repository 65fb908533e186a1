"""Candidate actions of a continuous action space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def candidates(zero: FloatArray, rng: np.random.Generator, *, per_dimension: int = 8, most: int = 65) -> FloatArray:
    """Actions (A, d) that cover the cube [−1, 1]^d: doing nothing, corners, and a low-discrepancy set between them.

    One dimension has an even grid. More have Sobol points scrambled by ``rng``, and all corners if they are at most
    half of the set, else as many that point as evenly into all directions.

    Args:
        zero: what doing nothing is (d,), the first candidate.
        rng: scrambles.
        per_dimension: candidates for each dimension of the action, besides the first.
        most: at most so many: a plan costs in proportion.
    """
    d = len(zero)
    count = min(1 + per_dimension * d, most)
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


def _distinct(rows: FloatArray) -> FloatArray:
    """Rows without repeats, in the order of their first appearance."""
    first = np.unique(rows, axis=0, return_index=True)[1]
    return rows[np.sort(first)]
