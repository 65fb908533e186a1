"""Several environments in one number: interquartile mean and probability of improvement [Agarwal et al. 2021]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cmerl.errors import InputError
from cmerl.experiments.statistics.intervals import LEVEL, RESAMPLES, Estimate, stratified_bootstrap
from cmerl.validation import scores as checks
from cmerl.validation.scores import FloatArray, Strata


def interquartile_mean(scores: Strata, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES) -> Estimate:
    """Mean of the middle half of all scores, with its stratified bootstrap interval.

    It is more robust than the mean and more efficient than the median. Scores of different environments are pooled,
    so use one scale, such as the share of V* reached.

    Args:
        scores: one array (seeds,) per environment.
        seed: seed of the resampling.
        level: level of the interval.
        resamples: number of bootstrap samples.
    """

    def pooled(samples: Sequence[FloatArray]) -> FloatArray:
        return middle_half_mean(np.concatenate(samples, axis=-1))

    return stratified_bootstrap(scores, pooled, seed=seed, level=level, resamples=resamples)


def middle_half_mean(values: FloatArray) -> FloatArray:
    """Mean of what lies between the quartiles of values (…, n), over the last axis.

    A quarter of the weight is cut from either end. Where n is no multiple of four, the values at the cut keep a part
    of their weight; otherwise this is the 25 % trimmed mean.
    """
    n = values.shape[-1]
    ranks = np.arange(n)
    kept = np.clip(np.minimum(ranks + 1, 0.75 * n) - np.maximum(ranks, 0.25 * n), 0.0, 1.0)
    ordered = np.sort(values, axis=-1)
    centre = ordered[..., n // 2]
    mean: FloatArray = centre + (ordered - centre[..., None]) @ kept / (0.5 * n)  # exact where all are equal
    return mean


def probability_of_improvement(
    a: Strata, b: Strata, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES
) -> Estimate:
    """Probability that a run of ``a`` scores above a run of ``b`` in a random environment.

    Ties count half. Within an environment this is the Mann–Whitney statistic U/(n·m); environments have equal weight.
    Seeds are resampled independently, so their numbers may differ.

    Args:
        a: one array (seeds,) per environment; higher is better.
        b: the same environments.
        seed: seed of the resampling.
        level: level of the interval.
        resamples: number of bootstrap samples.
    """
    first, second = checks.strata("a", a), checks.strata("b", b)
    if first.keys() != second.keys():
        raise InputError(
            f"both agents must have scores in the same environments, not {sorted(first)} and {sorted(second)}"
        )
    together = [*first.values(), *(second[env] for env in first)]

    def improvement(samples: Sequence[FloatArray]) -> FloatArray:
        half = len(samples) // 2
        shares = [_share_above(x, y) for x, y in zip(samples[:half], samples[half:], strict=True)]
        mean: FloatArray = np.mean(shares, axis=0)
        return mean

    return stratified_bootstrap(together, improvement, seed=seed, level=level, resamples=resamples)


def _share_above(x: FloatArray, y: FloatArray) -> FloatArray:
    """P(X > Y) + ½P(X = Y) for x (…, n) against y (…, m)."""
    share: FloatArray = (0.5 + 0.5 * np.sign(x[..., :, None] - y[..., None, :])).mean(axis=(-2, -1))
    return share
