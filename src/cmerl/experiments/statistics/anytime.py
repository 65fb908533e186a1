"""Anytime comparisons: confidence sequences for the mean paired difference.

Looking again and again until an ordinary interval excludes 0 finds a difference sooner or later, even if there
is none. The intervals here hold for all numbers of seeds at once: they may be watched, and the experiment stopped
when they say enough, without spoiling their level. Both are tests by betting [Waudby-Smith and Ramdas 2024]: somebody
bets against "the mean difference is θ" in a game that is fair if it is, and θ is ruled out once the money has grown
(1/α)-fold, which under θ ever happens with probability α at most [Ville 1939].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from cmerl.errors import InputError
from cmerl.experiments.statistics.intervals import LEVEL
from cmerl.validation import scores as checks
from cmerl.validation.scores import FloatArray

Bounds = tuple[float, float]

# Money is split evenly over these bets, for and against, so that no single one must be right.
STAKES = np.geomspace(0.1, 3.0, 6)  # symmetric game: per root mean square of the differences
FRACTIONS = np.geomspace(0.01, 0.99, 7)  # bounded game: of the largest stake that cannot lose all

SCAN_POINTS = 200
BISECTIONS = 60
FUTURES = 200


@dataclass(frozen=True)
class AnytimeComparison:
    """An anytime comparison of paired scores.

    Attributes:
        mean: mean of a − b.
        low: lower end of the confidence sequence; −inf while nothing is ruled out on that side.
        high: its upper end.
        p_value: anytime-valid p-value of "no difference".
        seeds: pairs seen.
        more_seeds: median number of further seeds until 0 is ruled out, over futures resampled from the seeds so far;
            0 if it is ruled out already, None if half of the futures do not decide.
    """

    mean: float
    low: float
    high: float
    p_value: float
    seeds: int
    more_seeds: int | None

    @property
    def decided(self) -> bool:
        """True if one agent is better at the given level."""
        return self.more_seeds == 0


def anytime_comparison(
    a: ArrayLike,
    b: ArrayLike,
    *,
    seed: int,
    level: float = LEVEL,
    bounds: Bounds | None = None,
    most: int = 500,
) -> AnytimeComparison:
    """Compare two agents on the same seeds after any number of seeds, and estimate how many more are needed.

    Without ``bounds`` it assumes that the differences a − b are independent over seeds and symmetric about their
    mean, at any scale and with any tails. Rare disasters of one agent are not symmetric. With ``bounds`` it assumes
    only that they are independent with one mean and within the bounds; wide bounds need more seeds.

    Args:
        a: scores (seeds,), in the order of the runs.
        b: scores (seeds,), on the same seeds.
        seed: seed of the futures behind ``more_seeds``.
        level: probability that all intervals contain the mean difference.
        bounds: (lo, hi) for every difference, known in advance, not taken from the data.
        most: largest number of further seeds to consider.
    """
    differences = checks.pairs(a, b)
    low, high = confidence_sequence(differences, level=level, bounds=bounds)
    money = float(log_wealth(differences, 0.0, bounds)[-1])
    enough = -np.log(1 - level)
    more: int | None = 0
    if money < enough:
        more = _more_seeds(differences, enough, bounds, seed=seed, most=checks.count("most", most))
    return AnytimeComparison(
        mean=float(differences.mean()),
        low=low,
        high=high,
        p_value=float(np.exp(min(0.0, -money))),
        seeds=len(differences),
        more_seeds=more,
    )


def confidence_sequence(
    differences: ArrayLike, *, level: float = LEVEL, bounds: Bounds | None = None
) -> tuple[float, float]:
    """The interval after differences (n,), from a sequence that covers the mean at every n at once.

    It holds every θ against which too little money was won. Assumptions as in `anytime_comparison`.
    """
    x = checks.finite("differences", differences, ndim=1)
    enough = -np.log(1 - checks.level(level))
    _check_bounds(x, bounds)
    return _last_kept(x, enough, bounds, side=-1), _last_kept(x, enough, bounds, side=1)


def log_wealth(x: FloatArray, theta: FloatArray | float, bounds: Bounds | None) -> FloatArray:
    """Logarithm of the money (…, n) after every difference of x (…, n), if θ (…, 1) is bet against.

    Half of it is bet on larger differences and half on smaller ones, and the better half is what counts.
    """
    if bounds is None:
        # If x − θ is symmetric, its sign is a fair coin even to those who know how large it is, so the stake may
        # depend on its size and the sizes before it: 1 ± tanh(stake) is fair, and needs no idea of the scale.
        centred = x - theta
        count = np.arange(1, x.shape[-1] + 1)
        scale = np.sqrt(np.cumsum(centred**2, axis=-1) / count)
        standard = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
        stake = np.stack([standard, -standard], axis=-2)[..., None, :] * STAKES[:, None]
        gains = np.log(2.0) - np.logaddexp(0.0, -2.0 * stake)
    else:
        # The stake is a fraction of what cannot ruin, whatever comes within the bounds.
        lo, hi = bounds
        relative = np.stack([(x - theta) / (theta - lo), (theta - x) / (hi - theta)], axis=-2)[..., None, :]
        gains = np.log1p(FRACTIONS[:, None] * relative)
    bets = 2 * gains.shape[-2]
    money = logsumexp(np.cumsum(gains, axis=-1), axis=-2) - np.log(bets)
    better: FloatArray = money.max(axis=-2)
    return better


def _last_kept(x: FloatArray, enough: float, bounds: Bounds | None, *, side: int) -> float:
    """The farthest θ to one side of the mean that is not ruled out."""
    middle = float(x.mean())
    if bounds is None:
        end = side * np.inf
        # As θ leaves, all differences come to look alike: what is not ruled out far away never is.
        steps = np.geomspace(1e-4, 1e4, SCAN_POINTS) * (np.ptp(x) or abs(middle) or 1.0)
    else:
        end = bounds[(side + 1) // 2]
        steps = abs(end - middle) * np.linspace(0, 1, SCAN_POINTS + 1, endpoint=False)[1:]
    theta = middle + side * np.append(0.0, steps)
    kept = np.flatnonzero(log_wealth(x, theta[:, None], bounds)[:, -1] < enough)
    if len(kept) == 0:
        return middle
    if kept[-1] == len(theta) - 1:
        return float(end)
    inside, outside = theta[kept[-1]], theta[kept[-1] + 1]
    for _ in range(BISECTIONS):
        between = (inside + outside) / 2
        if log_wealth(x, between, bounds)[-1] < enough:
            inside = between
        else:
            outside = between
    return float(inside)


def _more_seeds(x: FloatArray, enough: float, bounds: Bounds | None, *, seed: int, most: int) -> int | None:
    """Median number of differences to add to x (n,), drawn from itself, until 0 is ruled out."""
    drawn = np.random.default_rng(seed).choice(x, size=(FUTURES, most))
    futures = np.concatenate([np.broadcast_to(x, (FUTURES, len(x))), drawn], axis=1)
    ruled_out = log_wealth(futures, 0.0, bounds)[:, len(x) :] >= enough
    waits = np.where(ruled_out.any(axis=1), ruled_out.argmax(axis=1) + 1.0, np.inf)
    median = np.sort(waits)[FUTURES // 2]
    return int(median) if np.isfinite(median) else None


def _check_bounds(x: FloatArray, bounds: Bounds | None) -> None:
    if bounds is None:
        return
    lo, hi = bounds
    if not lo < 0 < hi:
        raise InputError(f"bounds of a difference must be (lo, hi) with lo < 0 < hi, not {bounds!r}")
    if x.min() < lo or x.max() > hi:
        raise InputError(
            f"differences reach from {x.min():.6g} to {x.max():.6g}, beyond the bounds {bounds!r}: give wider ones"
        )
