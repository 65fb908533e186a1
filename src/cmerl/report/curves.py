"""Curves over episodes: means over seeds with bands, thinned for display."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.experiments.statistics import mean_curve, thin

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

MOST_POINTS = 1000  # of one curve
PAGE_POINTS = 120_000  # of all curves of a page together, which keeps it in the megabytes
RESAMPLES = 400  # for bands that are looked at; numbers in tables get more
BOOTSTRAP_SEED = 0


@dataclass(frozen=True, eq=False)
class Curve:
    """A mean over seeds.

    Attributes:
        episodes: (points,), from 1.
        mean: (points,).
        low: of the 95 % band (points,), None for a single seed; likewise ``high``.
    """

    episodes: IntArray
    mean: FloatArray
    low: FloatArray | None
    high: FloatArray | None


def points_each(curves: int) -> int:
    """How many points each of so many curves may have."""
    return int(np.clip(PAGE_POINTS // max(curves, 1), 50, MOST_POINTS))


def sampled(values: FloatArray, most: int = MOST_POINTS) -> Curve:
    """Values (seeds, episodes) as they are at some episodes."""
    at = thin(values.shape[1], most)
    return _curve(at, values[:, at])


def smoothing_window(episodes: int) -> int:
    """Episodes that a running mean is taken over."""
    return max(episodes // 20, 1)


def smoothed(values: FloatArray, most: int = MOST_POINTS) -> Curve:
    """A running mean over a twentieth of the episodes, as it is at some episodes: for what is noisy."""
    at = thin(values.shape[1], most)
    return _curve(at, running_mean(values)[:, at])


def running_mean(values: FloatArray) -> FloatArray:
    """The mean (seeds, episodes) over the last twentieth of the episodes up to each one."""
    window = smoothing_window(values.shape[1])
    total = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
    end = np.arange(1, values.shape[1] + 1)
    starts = np.maximum(end - window, 0)
    return np.asarray((total[:, end] - total[:, starts]) / (end - starts), dtype=np.float64)


def _curve(at: IntArray, values: FloatArray) -> Curve:
    whole = ~np.isnan(values).any(axis=0)  # a metric may begin late
    at, values = at[whole], values[:, whole]
    if not len(at):
        return Curve(at, np.empty(0), None, None)
    mean, low, high = mean_curve(values, seed=BOOTSTRAP_SEED, resamples=RESAMPLES)
    return Curve(at + 1, mean, None, None) if len(values) == 1 else Curve(at + 1, mean, low, high)
