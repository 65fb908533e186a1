"""Whether rewards are known to depend on the state, or on the action alone.

While they are not, nothing is known to be worth going to. What actions cost is no measure of what places may pay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Motion, reward_rows, starting_at, varies
from cmerl.kernels.fitting import Fit, fit
from cmerl.linalg import Cholesky
from cmerl.searching.bumps import Bumps

FloatArray = NDArray[np.float64]

RESOLVED = 0.05  # of the range of rewards: what is left below this may be an error of the regression
MOST_STEPS = 30  # of a search for lengthscales


def depends_on_state(data: Motion, rows: int, starts: Sequence[float] = (2.0, 0.5)) -> bool:
    """True if rewards are known to depend on the state.

    That is so if an episode ended, if some rewards stand out from what actions explain, or if the state makes rewards
    likelier by more than its lengthscales cost (½ log n for each column, as in BIC).

    Args:
        data: what was seen.
        rows: most rows that rewards are regressed on.
        starts: lengthscales from which their kernel is searched for.
    """
    if data.ended.any():
        return True
    if not differ(data.r):
        return False
    some = data[reward_rows(data.r, rows)]
    r = (some.r - some.r.mean())[:, None] / float(some.r.std())
    by_action = fit(some.a, r, most_steps=MOST_STEPS)
    left, least = left_out(some.a, r, by_action)[:, 0], RESOLVED * float(np.ptp(r))
    if np.abs(left).max() <= least:  # actions explain all
        return False
    if stands_out(left, least=least):
        return True
    price = 0.5 * some.x.shape[1] * float(np.log(len(some)))
    return any(
        fit(Z, r, start=starting_at(start, Z), most_steps=MOST_STEPS).evidence > by_action.evidence + price
        for Z in (some.z, np.hstack([some.y, some.a]))
        for start in starts
    )


def differ(rewards: FloatArray) -> bool:
    """Whether rewards (n,) differ by more than rounding, of their size or of 1."""
    return varies(float(np.ptp(rewards)), max(1.0, float(np.abs(rewards).max())))


def left_out(X: FloatArray, Y: FloatArray, chosen: Fit) -> FloatArray:
    """What a ridge regression of Y (n, p) on X (n, d) leaves of each row if that is left out (n, p)."""
    G = Cholesky.of(Bumps(X, chosen.lengthscales)(X), chosen.ridge).solve(np.eye(len(X)))
    return np.asarray(G @ Y / np.diagonal(G)[:, None])


def stands_out(numbers: FloatArray, *, least: float, most: float = 0.1) -> bool:
    """Whether a few of some numbers (n,) lie farther from the others than these lie from one another.

    Args:
        numbers: to compare.
        least: how far they must lie away as well.
        most: share of the numbers that may be few.
    """
    few = max(int(most * len(numbers)), 1)
    for side in (np.sort(numbers), np.sort(-numbers)):
        gaps, widths = np.diff(side)[-few:], (side - side[0])[-few - 1 : -1]
        if np.any((gaps > widths) & (gaps > least)):
            return True
    return False
