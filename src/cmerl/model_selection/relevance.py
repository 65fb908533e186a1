"""Relevance of state columns: what rewards depend on, and whatever that depends on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Dynamics

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def relevant_columns(dynamics: Dynamics, rows: NDArray[np.intp], least: float) -> BoolArray:
    """Which columns (d,) of the state rewards depend on, now or later; all where rewards are not known to vary.

    A column counts where rewards depend on it, or the motion of another column that counts. Something depends on a
    column if shuffling it changes the prediction.

    Args:
        dynamics: the model that is asked.
        rows: of its data that are shuffled.
        least: mean squared change, over the variance of what is predicted, beyond which it does.
    """
    data = dynamics.data[rows]
    y, r, _ = dynamics.step(data.x, data.a)
    predicted = np.column_stack([y - data.x, r])  # motion of every column, and reward
    spread = np.maximum(predicted.var(axis=0), 1e-12)
    d = data.x.shape[1]
    depends = np.zeros((d + 1, d), dtype=bool)
    order = np.random.default_rng(0).permutation(len(rows))
    for j in range(d):
        x = data.x.copy()
        x[:, j] = x[order, j]
        y, r, _ = dynamics.step(x, data.a)
        changed = np.square(np.column_stack([y - x, r]) - predicted).mean(axis=0)
        depends[:, j] = changed > least * spread
    counts = depends[d]
    while True:
        more = counts | depends[:d][counts].any(axis=0)
        if np.array_equal(more, counts):
            return counts if counts.any() else np.ones(d, dtype=bool)
        counts = more
