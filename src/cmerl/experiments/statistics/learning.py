"""Learning speed: late regret, episodes to a level, growth of regret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.experiments.statistics.intervals import (
    LEVEL,
    RESAMPLES,
    Estimate,
    bootstrap_interval,
    exact_mean,
    percentile_band,
    resampled_means,
)
from cmerl.validation import scores as checks
from cmerl.validation.scores import FloatArray

LATE_SHARE = 0.1  # of the episodes: the last ones, which tell whether a run has learned
STUCK_SHARE = 0.2  # of V*: who still loses more than this per late episode is stuck
FIT_SHARE = 0.9  # of the episodes: the last ones, through which a growth exponent is fitted
FIT_POINTS = 100


@dataclass(frozen=True)
class RegretSummary:
    """Cumulative regret of several seeds.

    Attributes:
        mean: mean over seeds.
        low: lower end of the interval around ``mean``, NaN for a single seed.
        high: its upper end.
        worst: largest over seeds.
        stuck: share of seeds whose last episodes lose more than a fifth of V*.
    """

    mean: float
    low: float
    high: float
    worst: float
    stuck: float


def late_regret(regrets: ArrayLike) -> FloatArray:
    """Mean regret (seeds,) over the last tenth of the episodes of regrets (seeds, episodes)."""
    rows = checks.finite("regrets", regrets, ndim=2)
    late = max(round(rows.shape[1] * LATE_SHARE), 1)
    tail: FloatArray = rows[:, -late:].mean(axis=1)
    return tail


def summarise_regret(regrets: ArrayLike, *, optimum: float, seed: int) -> RegretSummary:
    """Summary of per-episode regrets (seeds, episodes); ``optimum`` is V* at the first state."""
    rows = checks.finite("regrets", regrets, ndim=2)
    totals = rows.sum(axis=1)
    low, high = bootstrap_interval(totals, seed=seed)
    stuck = np.mean(late_regret(rows) > STUCK_SHARE * optimum)
    return RegretSummary(float(exact_mean(totals)), low, high, float(totals.max()), float(stuck))


def thin(points: int, most: int) -> NDArray[np.intp]:
    """At most ``most`` of the indices 0 … points−1, including both ends: dense at the start, then even.

    A curve drawn through them looks the same on linear and on logarithmic axes.
    """
    if points < 1 or most < 4:
        raise InputError(f"thinning needs at least 1 point and 4 to keep, not {points!r} and {most!r}")
    if points <= most:
        return np.arange(points)
    even = np.linspace(0, points - 1, most - most // 2)
    early = np.geomspace(1, points, most // 2) - 1
    return np.unique(np.round(np.concatenate([even, early])).astype(np.intp))


@dataclass(frozen=True, eq=False)
class Threshold:
    """When runs first reach a level; a run that never does is censored.

    Attributes:
        episodes: (seeds,), counted from 1; infinite for censored runs.
        reached: share of seeds that reached the level.
        median: median over seeds; infinite if half of them or more are censored.
        restricted_mean: mean of min(episodes, last episode) with its bootstrap interval, a lower bound on the mean.
    """

    episodes: FloatArray
    reached: float
    median: float
    restricted_mean: Estimate


def episodes_to_threshold(
    scores: ArrayLike, threshold: float, *, seed: int, window: int = 1, below: bool = False
) -> Threshold:
    """The first episode at whose end the mean score of the last ``window`` episodes reaches ``threshold``.

    Args:
        scores: (seeds, episodes), such as returns.
        threshold: the level to reach.
        seed: seed of the bootstrap.
        window: number of episodes averaged; no run can reach the level before.
        below: True for scores such as regret, which reach the level from above.
    """
    rows = checks.finite("scores", scores, ndim=2)
    last = rows.shape[1]
    if not 1 <= window <= last:
        raise InputError(f"window must lie between 1 and the {last} episodes, not {window!r}")
    sign = -1.0 if below else 1.0
    sums = np.cumsum(np.pad(rows, ((0, 0), (1, 0))), axis=1)
    means = (sums[:, window:] - sums[:, :-window]) / window
    slack = 1e-12 * np.abs(rows).max()  # rounding of the sums is no reason to miss a level that was hit exactly
    hit = sign * means >= sign * threshold - slack
    reached = hit.any(axis=1)
    episodes = np.where(reached, hit.argmax(axis=1) + window, np.inf)
    restricted = np.minimum(episodes, last)
    low, high = bootstrap_interval(restricted, seed=seed)
    ordered = np.sort(episodes)
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return Threshold(
        episodes=episodes,
        reached=float(reached.mean()),
        median=float(middle.mean()),
        restricted_mean=Estimate(float(exact_mean(restricted)), low, high),
    )


def regret_exponent(
    regrets: ArrayLike,
    *,
    seed: int,
    share: float = FIT_SHARE,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The exponent a for which mean cumulative regret grows like (episodes)ᵃ, by least squares on log axes.

    1 means no learning, ½ is √T, and 0 no further regret. It describes the observed episodes and proves no rate. The
    interval resamples whole runs.

    Args:
        regrets: (seeds, episodes), per episode.
        seed: seed of the bootstrap.
        share: share of the last episodes that are fitted.
        level: level of the interval.
        resamples: number of bootstrap samples.

    Returns:
        The exponent; NaN if the regret of the first fitted episodes is not positive or there are fewer than two of
        them. The interval is NaN for a single seed.
    """
    rows = checks.finite("regrets", regrets, ndim=2)
    if not 0 < share <= 1:
        raise InputError(f"share must lie above 0 and at most 1, not {share!r}")
    last = rows.shape[1]
    first = max(round((1 - share) * last), 1)
    # Even on the logarithmic axis, so that late episodes, which are many, do not decide alone.
    fitted = np.unique(np.round(np.geomspace(first, last, FIT_POINTS)).astype(np.intp))
    mean, means = resampled_means(rows.cumsum(axis=1)[:, fitted - 1], seed=seed, resamples=resamples)
    if len(fitted) < 2 or mean.min() <= 0 or means.min() <= 0:
        return Estimate(np.nan, np.nan, np.nan)
    x = np.log(fitted) - np.log(fitted).mean()
    weights = x / (x @ x)
    low, high = percentile_band(np.log(means) @ weights, level=level) if len(rows) > 1 else (np.nan, np.nan)
    return Estimate(float(np.log(mean) @ weights), float(low), float(high))
