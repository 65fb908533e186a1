"""What several seeds say together: means, bootstrap intervals over seeds, and seeds that got stuck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError

FloatArray = NDArray[np.float64]

LATE_SHARE = 0.1  # of the episodes: the last ones, which tell whether a run has learned
STUCK_SHARE = 0.2  # of V*: who still loses more than this per late episode is stuck


@dataclass(frozen=True)
class RegretSummary:
    """Cumulative regret of several seeds.

    Attributes:
        mean: over seeds.
        low: lower end of the interval around ``mean``, NaN for a single seed.
        high: its upper end.
        worst: of the seeds.
        stuck: share of seeds whose late episodes still lose more than a fifth of V*.
    """

    mean: float
    low: float
    high: float
    worst: float
    stuck: float


def bootstrap_interval(
    values: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 2000
) -> tuple[float, float]:
    """Percentile bootstrap interval for the mean [Efron 1979].

    Args:
        values: (n,), one number per independent run.
        seed: of the resampling; equal seeds give equal intervals.
        level: probability that the interval aims to cover the mean with; with few runs it covers less.
        resamples: number of bootstrap samples.

    Returns:
        (low, high); NaN for a single value, which says nothing about its own spread.
    """
    sample = _finite("values", values, ndim=1)
    low, high = _percentile_band(sample[:, None], seed=seed, level=level, resamples=resamples)
    return float(low[0]), float(high[0])


def mean_curve(
    curves: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 2000
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean over seeds with a pointwise bootstrap band; whole curves are resampled.

    Args:
        curves: (seeds, points).
        seed: of the resampling.
        level: of the interval at each point.
        resamples: number of bootstrap samples.

    Returns:
        mean, low and high, each (points,); the band is NaN for a single curve.
    """
    rows = _finite("curves", curves, ndim=2)
    low, high = _percentile_band(rows, seed=seed, level=level, resamples=resamples)
    return _mean(rows), low, high


def late_regret(regrets: ArrayLike) -> FloatArray:
    """Mean regret (seeds,) over the last tenth of the episodes of regrets (seeds, episodes)."""
    rows = _finite("regrets", regrets, ndim=2)
    late = max(round(rows.shape[1] * LATE_SHARE), 1)
    tail: FloatArray = rows[:, -late:].mean(axis=1)
    return tail


def summarise_regret(regrets: ArrayLike, *, optimum: float, seed: int) -> RegretSummary:
    """Summary of regrets (seeds, episodes), each episode's own; ``optimum`` is V* at the first state."""
    rows = _finite("regrets", regrets, ndim=2)
    totals = rows.sum(axis=1)
    low, high = bootstrap_interval(totals, seed=seed)
    stuck = np.mean(late_regret(rows) > STUCK_SHARE * optimum)
    return RegretSummary(float(_mean(totals)), low, high, float(totals.max()), float(stuck))


def thin(points: int, most: int) -> NDArray[np.intp]:
    """At most ``most`` of the indices 0 … points−1, ends included: dense at the start and even after it.

    A curve drawn through them looks the same on linear and on logarithmic axes.
    """
    if points < 1 or most < 4:
        raise InputError(f"thinning needs at least 1 point and 4 to keep, not {points!r} and {most!r}")
    if points <= most:
        return np.arange(points)
    even = np.linspace(0, points - 1, most - most // 2)
    early = np.geomspace(1, points, most // 2) - 1
    return np.unique(np.round(np.concatenate([even, early])).astype(np.intp))


def _percentile_band(rows: FloatArray, *, seed: int, level: float, resamples: int) -> tuple[FloatArray, FloatArray]:
    """Percentile intervals (points,) for the column means of rows (n, points)."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, not {level!r}")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, not {resamples!r}")
    n = len(rows)
    if n == 1:
        nothing = np.full(rows.shape[1], np.nan)
        return nothing, nothing
    # How often each row is drawn is all that the mean of a resample depends on.
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
    middle = _mean(rows)
    means = counts @ (rows - middle) / n  # centred, so that equal rows give exactly their own value
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return middle + low, middle + high


def _mean(rows: FloatArray) -> FloatArray:
    """Mean over the first axis, exact where all rows are equal."""
    mean: FloatArray = rows[0] + (rows - rows[0]).mean(axis=0)
    return mean


def _finite(name: str, values: ArrayLike, *, ndim: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim or 0 in array.shape:
        shape = "(n,)" if ndim == 1 else "(seeds, episodes)"
        raise InputError(f"{name} must have shape {shape} with at least one entry, not {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, but hold NaN or infinity")
    return array
