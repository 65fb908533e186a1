"""The largest mean over distributions in a Kullback–Leibler ball, by the solver of the ``kl`` mode."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence.kl import least_mean

FloatArray = NDArray[np.float64]


def largest_mean(p: FloatArray, values: FloatArray, most: float, radius: FloatArray) -> FloatArray:
    """max{q·v : KL(p‖q) ≤ ε}, over laws q on the atoms and on one more worth ``most``.

    Args:
        p: distributions (…, K); a row of zeros is unknown, with result ``most``.
        values: v of each atom (…, K).
        most: the largest value of all.
        radius: ε ≥ 0 (…).
    """
    shortfall = np.where(p > 0, most - values, 0.0)
    eps = np.clip(radius, 1e-14, 100.0)  # within what float64 can tell from 0 and from no bound at all
    least = np.where(radius > 0, least_mean(p, shortfall, eps)[0], (p * shortfall).sum(axis=-1))
    return np.asarray(most - least)
