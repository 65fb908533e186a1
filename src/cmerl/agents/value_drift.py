"""A plan's value that rises late in learning: the sign of a backup that has become expansive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WINDOW = 10  # episodes over which values are averaged
FROM = 50  # episodes before which a rise is learning
LIMIT = 0.1  # of the largest return: a rise beyond this is worth a word


def late_rise(values: Sequence[float]) -> float:
    """By how much V₁(s₁) of the latest plans exceeds its lowest level in the second half of the episodes so far.

    An optimistic value falls as data come in, or rises a little as smoothing blurs less; where it climbs late, values
    are made by the backup and not by rewards. Means of ``WINDOW`` episodes are compared, 0 before ``FROM`` episodes.
    """
    if len(values) < FROM:
        return 0.0
    recent = np.asarray(values[len(values) // 2 :], dtype=np.float64)
    levels = np.convolve(recent, np.full(WINDOW, 1.0 / WINDOW), mode="valid")
    return float(levels[-1] - levels.min())
