"""Two agents on the same seeds: an exact test and interval for their difference, and many comparisons at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cmerl.errors import InputError
from cmerl.experiments.statistics.intervals import LEVEL
from cmerl.validation import scores as checks
from cmerl.validation.scores import FloatArray, Strata

MOST_ENUMERATED = 15  # pairs, above which signs are drawn instead of enumerated
SIGN_DRAWS = 20_000
_ROUNDING = 1e-12  # relative: what counts as a tie


class PairedDifference(NamedTuple):
    """The difference of two agents on paired scores.

    Attributes:
        mean: mean of a − b.
        low: lower end of the interval of differences that the test does not reject; −inf with too few seeds.
        high: its upper end.
        p_value: two-sided p-value of "no difference".
        seeds: number of pairs.
    """

    mean: float
    low: float
    high: float
    p_value: float
    seeds: int


@dataclass(frozen=True)
class Comparison:
    """Agents ``a`` and ``b`` in one environment, one of many comparisons.

    Attributes:
        env: the environment.
        a: name of an agent.
        b: name of the other.
        difference: a − b on shared seeds, with the interval of this comparison alone.
        adjusted_p: Holm's adjusted p-value; rejecting those below α makes any false rejection with probability at
            most α.
    """

    env: str
    a: str
    b: str
    difference: PairedDifference
    adjusted_p: float


def paired_difference(a: ArrayLike, b: ArrayLike, *, seed: int, level: float = LEVEL) -> PairedDifference:
    """Mean of a − b over shared seeds, with the exact interval and p-value of the sign-flip test [Fisher 1935].

    If the agents do not differ, all signs of the differences are equally likely; the p-value is the share of sign
    choices with a mean at least as far from 0. The interval inverts the test. It is exact for differences that are
    symmetric about their mean; at 95 % it is infinite with fewer than 6 seeds.

    Args:
        a: (seeds,).
        b: (seeds,), on the same seeds in the same order.
        seed: seed of the signs, which are sampled if there are too many to enumerate.
        level: level of the interval.
    """
    differences = checks.pairs(a, b)
    parts = _split_means(differences, seed=seed)
    alpha = 1 - checks.level(level)
    tolerance = _ROUNDING * float(np.abs(differences).max())
    inside = (parts[:, 0] <= tolerance) & (parts[:, 1] >= -tolerance)
    # θ below the mean is kept while 1 + #{splits with a lower mean ≤ θ} > α(1 + splits), the 1 for flipping nothing.
    rank = int(np.floor(alpha * (len(parts) + 1) + _ROUNDING))
    low, high = -np.inf, np.inf
    if rank >= 1:
        low, high = np.sort(parts[:, 0])[rank - 1], np.sort(-parts[:, 1])[rank - 1] * -1.0
    return PairedDifference(
        mean=float(differences.mean()),
        low=float(low),
        high=float(high),
        p_value=float((1 + inside.sum()) / (1 + len(parts))),
        seeds=len(differences),
    )


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values (m,), which bound the probability of any false rejection [Holm 1979]."""
    p = checks.finite("p_values", p_values, ndim=1)
    if ((p < 0) | (p > 1)).any():
        raise InputError("p_values must lie between 0 and 1")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def compare_all(
    scores: Mapping[str, Strata], *, seed: int, baseline: str | None = None, level: float = LEVEL
) -> tuple[Comparison, ...]:
    """Every pair of agents in every environment, with p-values corrected for their number.

    Args:
        scores: for each agent, its scores (seeds,) in each environment, seeds in the same order for all.
        seed: seed of the random signs.
        baseline: compare only with this agent; fewer comparisons have more power.
        level: level of each interval alone.
    """
    agents = {agent: checks.strata(agent, values) for agent, values in scores.items()}
    if baseline is not None and baseline not in agents:
        raise InputError(f"there is no agent {baseline!r} to compare with, only {', '.join(map(repr, agents))}")
    if baseline is None:
        couples: Sequence[tuple[str, str]] = list(itertools.combinations(agents, 2))
    else:
        couples = [(agent, baseline) for agent in agents if agent != baseline]
    found = [
        Comparison(env, a, b, paired_difference(agents[a][env], agents[b][env], seed=seed, level=level), 1.0)
        for a, b in couples
        for env in agents[a]
        if env in agents[b]
    ]
    if not found:
        return ()
    adjusted = holm([comparison.difference.p_value for comparison in found])
    return tuple(replace(c, adjusted_p=float(p)) for c, p in zip(found, adjusted, strict=True))


def _split_means(differences: FloatArray, *, seed: int) -> FloatArray:
    """Smaller and larger mean (splits, 2) of the two parts of every split of the pairs into two.

    Flipping the signs of one part leaves a sum at least as far from 0 exactly if 0 lies between the means of the
    parts: with sums A and B, |A − B| ≥ |A + B| says AB ≤ 0. So the splits hold all that the test and its inversion
    need.
    """
    n = len(differences)
    if n <= MOST_ENUMERATED:
        # The last pair is never flipped, which counts every split once.
        flips = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n) & 1).astype(bool)
    else:
        flips = np.random.default_rng(seed).random((SIGN_DRAWS, n)) < 0.5
    size = flips.sum(axis=1)
    centre = float(differences.mean())  # sums of like differences keep their last digits
    part = flips @ (differences - centre)
    means = np.stack([part / np.maximum(size, 1), -part / np.maximum(n - size, 1)], axis=1) + centre
    means.sort(axis=1)
    means[(size == 0) | (size == n)] = -np.inf, np.inf  # a draw that splits nothing is never evidence
    return means
