"""Bootstrap intervals over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cmerl.validation import scores as checks
from cmerl.validation.scores import FloatArray, Strata

LEVEL = 0.95
RESAMPLES = 2000


class Estimate(NamedTuple):
    """A number with its interval; ``low`` and ``high`` are NaN if the spread is unknown."""

    value: float
    low: float
    high: float


def bootstrap_interval(
    values: ArrayLike, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile bootstrap interval for the mean [Efron 1979].

    Args:
        values: (n,), one per independent run.
        seed: seed of the resampling.
        level: nominal coverage; with few runs the interval covers less.
        resamples: number of bootstrap samples.

    Returns:
        (low, high); NaN for a single value.
    """
    sample = checks.finite("values", values, ndim=1)
    _, low, high = mean_curve(sample[:, None], seed=seed, level=level, resamples=resamples)
    return float(low[0]), float(high[0])


def mean_curve(
    curves: ArrayLike, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean over seeds with a pointwise bootstrap band; whole curves are resampled.

    Args:
        curves: (seeds, points).
        seed: seed of the resampling.
        level: level of the interval at each point.
        resamples: number of bootstrap samples.

    Returns:
        mean, low and high, each (points,); the band is NaN for a single curve.
    """
    rows = checks.finite("curves", curves, ndim=2)
    middle, means = resampled_means(rows, seed=seed, resamples=resamples)
    low, high = percentile_band(means - middle, level=level)
    if len(rows) == 1:
        nothing = np.full(rows.shape[1], np.nan)
        return middle, nothing, nothing
    return middle, middle + low, middle + high


def stratified_bootstrap(
    scores: Strata,
    statistic: Callable[[Sequence[FloatArray]], FloatArray],
    *,
    seed: int,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Percentile bootstrap in which every environment keeps its number of seeds [Agarwal et al. 2021].

    Seeds are resampled within each environment, never across, so the interval covers new seeds on the same
    environments.

    Args:
        scores: one array (seeds,) per environment.
        statistic: maps one array (…, seeds) per environment to an array (…).
        seed: seed of the resampling.
        level: probability that the interval aims to cover with; with few seeds it covers less.
        resamples: number of bootstrap samples.
    """
    samples = list(checks.strata("scores", scores).values())
    rng = np.random.default_rng(seed)
    checks.count("resamples", resamples)
    drawn = [values[rng.integers(len(values), size=(resamples, len(values)))] for values in samples]
    low, high = percentile_band(statistic(drawn), level=level)
    if all(len(values) == 1 for values in samples):
        low = high = np.nan
    return Estimate(float(statistic(samples)), float(low), float(high))


def resampled_means(rows: FloatArray, *, seed: int, resamples: int) -> tuple[FloatArray, FloatArray]:
    """Mean (points,) of rows (n, points), and the means (resamples, points) of rows drawn with replacement."""
    n = len(rows)
    # How often each row is drawn is all that the mean of a resample depends on.
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), checks.count("resamples", resamples))
    middle = exact_mean(rows)
    return middle, middle + counts @ (rows - middle) / n  # centred, so that equal rows give exactly their own value


def percentile_band(resampled: FloatArray, *, level: float) -> FloatArray:
    """The central ``level`` (2, …) of resampled (resamples, …)."""
    checks.level(level)
    band: FloatArray = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return band


def exact_mean(rows: FloatArray) -> FloatArray:
    """Mean over the first axis, exact where all rows are equal."""
    mean: FloatArray = rows[0] + (rows - rows[0]).mean(axis=0)
    return mean
