"""The largest mean over laws within a Kullback–Leibler ball, as the agent ``kl-ucrl`` needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def largest_mean(
    p: FloatArray, values: FloatArray, most: float, radius: FloatArray, *, halvings: int = 60
) -> FloatArray:
    """max{q·v : KL(p‖q) ≤ ε}, over laws q on the atoms and on one more worth ``most``.

    By duality it is the minimum over x ≥ 0 of most + x − x·exp(Σp·log(1 + d/x) − ε), d = most − v: every x gives an
    upper bound, so the answer is optimistic whatever the error of the search [Filippi et al. 2010; Honda & Takemura].
    The minimum lies where f(x) = Σp·log(1 + d/x) + log Σp/(1 + d/x) equals ε; f falls in x, and an interval of
    log x is halved to find it.

    Args:
        p: laws (…, K); a row of zeros is a law of which nothing is known, and its answer is ``most``.
        values: v of each atom (…, K).
        most: the largest value of all.
        radius: ε ≥ 0 (…).
        halvings: of the interval in which log x is looked for.
    """
    d = np.where(p > 0, most - values, 0.0)
    scale = d.max(axis=-1)
    known = scale > 0
    d = d / np.where(known, scale, 1.0)[..., None]
    eps = np.clip(radius, 1e-14, 100.0)  # within what float64 can tell from 0 and from no bound at all
    # f(x) ≤ 1/(4x²), so that x ≤ 1/(2√ε); far below, f has its limit or none.
    low, high = np.full(eps.shape, -150.0), -np.log(2.0) - 0.5 * np.log(eps)
    for _ in range(halvings):
        y = 0.5 * (low + high)
        t = d * np.exp(-y)[..., None]
        f = (p * np.log1p(t)).sum(axis=-1) + np.log(np.where(known, (p / (1.0 + t)).sum(axis=-1), 1.0))
        low, high = np.where(f > eps, y, low), np.where(f > eps, high, y)
    x = np.exp(0.5 * (low + high))
    gain = (p * np.log1p(d / x[..., None])).sum(axis=-1)
    least = np.maximum(x * np.expm1(gain - eps), 0.0)
    found = np.where(radius > 0.0, least, (p * d).sum(axis=-1))
    return np.asarray(most - np.where(known, found * scale, 0.0))
