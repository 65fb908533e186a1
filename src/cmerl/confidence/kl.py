"""Kullback–Leibler confidence balls around an empirical distribution: their radii, and the extreme mean within one.

Proofs are in docs/method/proofs.md. Everything is vectorised: a law is a row of weights on K atoms, and leading axes
are independent problems.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from cmerl.errors import InputError

FloatArray = NDArray[np.float64]

TINY = float(np.finfo(np.float64).tiny)
LARGE, SMALL = 600.0, 30.0  # −log x below which x = 0 will do: what float64 can hold, and what changes no answer


@dataclass(frozen=True)
class CountingBudget:
    """The division of δ for proofs from counts.

    Attributes:
        delta: the failure probability of all claims together.
        learned_reward: whether mean rewards need intervals of their own.
    """

    delta: float
    learned_reward: bool

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise InputError(f"delta must lie strictly between 0 and 1, not {self.delta!r}")

    @property
    def optimism(self) -> float:
        """For the upper bounds on V*."""
        return self.delta / 2

    @property
    def laws(self) -> float:
        """For balls around transition distributions that hold for every function."""
        return self.delta / (8 if self.learned_reward else 4)

    @property
    def rewards(self) -> float:
        """For the intervals of learned mean rewards."""
        return self.delta / 8

    @property
    def luck(self) -> float:
        """For returns that differ from their expectations."""
        return self.delta / 4


def kl_radius(visits: FloatArray, *, union: float, delta: float) -> FloatArray:
    """n·ε of the ball for one fixed function of what follows: log(union/δ) + log(√π·Γ(n+1)/Γ(n+½)).

    It holds for all n at once. The second term is the price of not knowing the best bet beforehand, at most
    ½log(π(n+½)) [Cover & Ordentlich 1996].
    """
    price = 0.5 * math.log(math.pi) + gammaln(visits + 1.0) - gammaln(visits + 0.5)
    return np.asarray(math.log(union / delta) + price)


def law_radius(counts: FloatArray, *, outcomes: int, union: float, delta: float) -> FloatArray:
    """n·ε of the ball that contains the law itself, so that it serves every function, also one chosen from the data.

    The evidence of a Dirichlet(1/m, …, 1/m) mixture: log(union/δ) + log(max_q Πq(x_i) / ∫Πq(x_i)). It holds for all n
    at once, and what was never seen costs little.

    Args:
        counts: how often each atom was seen (…, K); atoms that were not may be left out.
        outcomes: m, how many outcomes are possible.
        union: how many laws must hold together.
        delta: the failure probability of all of them.
    """
    n, prior = counts.sum(axis=-1), 1.0 / outcomes
    seen = counts > 0
    safe = np.where(seen, counts, 1.0)
    best = np.where(seen, counts * np.log(safe / np.maximum(n, 1.0)[..., None]), 0.0).sum(axis=-1)
    mixed = np.where(seen, gammaln(safe + prior) - math.lgamma(prior), 0.0).sum(axis=-1) - gammaln(n + 1.0)
    return np.asarray(math.log(union / delta) + np.maximum(best - mixed, 0.0))


def least_mean(
    p: FloatArray,
    d: FloatArray,
    eps: FloatArray,
    *,
    start: FloatArray | None = None,
    tolerance: float = 1e-5,
    iterations: int = 60,
) -> tuple[FloatArray, FloatArray]:
    """min{q·d : KL(p‖q) ≤ ε}, over laws q on the atoms and on one more where d is 0.

    By duality it is the maximum over x ≥ 0 of x·(exp(Σp·log(1 + d/x) − ε) − 1). Every x gives a value that is not too
    large, so solver errors are on the safe side and of second order.

    Args:
        p: distributions (…, K); a row of zeros is unknown, with result 0.
        d: the function, from 0 on (…, K).
        eps: the radii ε > 0 (…).
        start: where the search begins, as returned by a similar call (…).
        tolerance: of log f(x) − log ε at the end, where f(x) = ε is to be solved.
        iterations: at most so many.

    Returns:
        the minima (…), and log(x / max d) to start a similar call with.
    """
    on = p > 0
    top = np.where(on, d, 0.0).max(axis=-1)
    known = top > 0.0  # otherwise the answer is 0
    scale = np.where(known, top, 1.0)
    d = np.where(on, d / scale[..., None], 1.0)
    positive = d > 0.0
    safe = np.where(positive, d, 1.0)
    p_zero = np.where(positive, 0.0, p).sum(axis=-1)
    geometric = (p * np.log(safe)).sum(axis=-1)  # Σp·log d, where no atom is 0
    harmonic = np.where(known, (p / safe).sum(axis=-1), 1.0)
    attained = p_zero > 0.0
    at_zero = ~attained & (geometric + np.log(harmonic) <= eps)  # x = 0: the free atom gets mass
    active = known & ~at_zero
    if not active.any():
        return np.where(known, np.exp(geometric - eps) * scale, 0.0), np.zeros(top.shape)
    # f(x) ≤ log(1 + 1/(4x(x + 1))) ≤ 1/(4x²) by Kantorovich's inequality; where an atom is 0 it has weight p₀ and
    # f(x) ≥ (1 − p₀)·log(min d/x) + log p₀.
    high = -np.log(2.0 * np.sqrt(eps))
    reach = (eps - np.log(np.where(attained, p_zero, 1.0))) / np.maximum(1.0 - p_zero, 1e-12)
    low = np.log(safe.min(axis=-1)) - np.where(attained, np.minimum(reach, LARGE), SMALL)
    low = np.minimum(low, high - 1.0)
    if start is None:
        mean = (p * d).sum(axis=-1)
        variance = np.maximum((p * d * d).sum(axis=-1) - mean * mean, 1e-12)
        start = 0.5 * np.log(variance / (2.0 * eps))  # f(x) is about variance/(2x²) for large x
    y = np.where(active, np.clip(start, low, high), 0.0)
    goal = np.log(eps)
    for _ in range(iterations):
        t = d * np.exp(-y)[..., None]
        u = 1.0 / (1.0 + t)
        pu = p * u
        mass = np.where(active, pu.sum(axis=-1), 1.0)
        gain = (p * np.log1p(t)).sum(axis=-1)
        f = np.maximum(gain + np.log(mass), TINY)
        wrong = np.where(active, np.log(f) - goal, 0.0)
        if np.abs(wrong).max() <= tolerance:
            break
        above = wrong > 0
        low, high = np.where(above, y, low), np.where(above, high, y)
        slope = np.minimum(mass - (pu * u).sum(axis=-1) / mass, -TINY)
        newton = y - wrong * f / slope
        middle = 0.5 * (low + high)
        y = np.where(active, np.where((newton > low) & (newton < high), newton, middle), 0.0)
    else:
        gain = (p * np.log1p(d * np.exp(-y)[..., None])).sum(axis=-1)
    found = np.where(active, np.exp(y) * np.expm1(gain - eps), np.exp(geometric - eps))
    return np.where(known, np.maximum(found, 0.0) * scale, 0.0), y
