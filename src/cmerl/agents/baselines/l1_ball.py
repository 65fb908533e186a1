"""The largest mean over distributions in an L1 ball: extended value iteration [Jaksch et al. 2010, Fig. 2]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def largest_mean(p: FloatArray, values: FloatArray, most: float, radius: FloatArray) -> FloatArray:
    """max{q·v : ‖q − p‖₁ ≤ d}, over laws q on the atoms and on one more worth ``most``.

    Half of d moves from the worst atoms to the best: the atom worth ``most``, which may be among the others.

    Args:
        p: distributions (…, K); a row of zeros is unknown, with result ``most``.
        values: v of each atom (…, K).
        most: the largest value of all.
        radius: d (…).
    """
    moved = np.minimum(radius / 2, 1.0)[..., None]
    order = np.argsort(values, axis=-1)
    p, values = np.take_along_axis(p, order, -1), np.take_along_axis(values, order, -1)
    before = np.cumsum(p, axis=-1) - p
    left = p - np.clip(moved - before, 0.0, p)
    mean: FloatArray = (left * values).sum(axis=-1) + (1.0 - left.sum(axis=-1)) * most
    return mean
