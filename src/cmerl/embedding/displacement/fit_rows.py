"""Rows of the data that kernels are fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.motion import Motion
from cmerl.embedding.displacement.regression import farthest_points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def rows_to_fit(n: int, rare: IntArray, rows: int) -> IntArray:
    """At most so many of n rows that a kernel is fitted to: a third each spread in time, rare, and the latest.

    Time alone misses what is rare. What is rare is often of the first, wild episodes: without the latest, a kernel
    fits states and costs that no good episode meets, and what matters near the optimum hardly counts.
    """
    third = max(rows // 3, 1)
    in_time = np.linspace(0, n - 1, min(n, third)).astype(np.intp)
    return np.unique(np.concatenate([in_time, rare, np.arange(max(n - third, 0), n)]))


def reward_rows(rewards: FloatArray, rows: int) -> IntArray:
    """Rows of rewards (n,) to fit their kernel to; rare are those farthest from the usual (see ``rows_to_fit``)."""
    rare = np.argsort(-np.abs(rewards - np.median(rewards)), kind="stable")[: max(rows // 3, 1)]
    return rows_to_fit(len(rewards), rare, rows)


def spread_rows(data: Motion, rows: int) -> IntArray:
    """At most so many rows, spread as widely as states and rewards are; the reward counts as much as the state.

    The marginal likelihood takes rows for independent. A state that rests gives many rows that are nearly the same,
    and a kernel that remembers each place explains them best; of these, one is taken here.
    """
    weight = np.sqrt(data.x.shape[1]) / max(float(data.r.std()), 1e-300)
    return np.sort(farthest_points(np.hstack([data.x, weight * data.r[:, None]]), rows)[0])
