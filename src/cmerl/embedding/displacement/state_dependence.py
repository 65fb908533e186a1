"""Whether rewards are known to depend on the state, or on the action alone.

While they are not, nothing is known to be worth going to. What actions cost is no measure of what places may pay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.kernel_choice import reward_rows, starting_at
from cmerl.embedding.displacement.motion import Motion, varies
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.kernels.fitting import Fit, fit
from cmerl.linalg import Cholesky
from cmerl.searching.rbf_features import RBFFeatures

FloatArray = NDArray[np.float64]


def depends_on_state(data: Motion, settings: DisplacementSettings) -> bool:
    """True if rewards are known to depend on the state.

    That is so if an episode ended, if some rewards stand out from what actions explain, or if the state makes n
    rewards more than n times as likely: the marginal likelihood counts what its lengthscales cost already.

    Args:
        data: what was seen.
        settings: the rows that rewards are regressed on, their kernel, and which rewards stand out.
    """
    if data.ended.any():
        return True
    if not differ(data.r):
        return False
    some = data[reward_rows(data.r, settings.fit_rows)]
    r = (some.r - some.r.mean())[:, None] / float(some.r.std())
    by_action = _likeliest(some.a, r, settings.starts)
    left, deviation = left_out(some.a, r[:, 0], by_action)
    eligible = np.abs(left) > settings.reward_resolution * float(np.ptp(r))
    if stands_out(left / deviation, eligible, most=settings.few_rewards):
        return True
    enough = by_action.evidence + float(np.log(len(some)))
    return any(_likeliest(Z, r, settings.starts).evidence > enough for Z in (some.z, np.hstack([some.y, some.a])))


def _likeliest(Z: FloatArray, r: FloatArray, starts: Sequence[float], *, most_steps: int = 30) -> Fit:
    """The likeliest of the kernels that several starts lead to."""
    found = (fit(Z, r, start=starting_at(start, Z), most_steps=most_steps) for start in starts)
    return max(found, key=lambda one: one.evidence)


def differ(rewards: FloatArray) -> bool:
    """Whether rewards (n,) differ by more than rounding, of their size or of 1."""
    return varies(float(np.ptp(rewards)), max(1.0, float(np.abs(rewards).max())))


def left_out(X: FloatArray, y: FloatArray, chosen: Fit) -> tuple[FloatArray, FloatArray]:
    """What a ridge regression of y (n,) on X (n, d) leaves of each row if that is left out, and its deviation (n,).

    The deviation is what it expects to leave, up to a factor: much where a row is alone.
    """
    G = Cholesky.of(RBFFeatures(X, chosen.lengthscales)(X), chosen.ridge).solve(np.eye(len(X)))
    return G @ y / np.diagonal(G), 1.0 / np.sqrt(np.diagonal(G))


def stands_out(numbers: FloatArray, eligible: NDArray[np.bool_], *, most: float) -> bool:
    """Whether a few of some numbers (n,), two at least, lie farther from the others than these from one another.

    One may be an outlier, or an action that nobody else took.

    Args:
        numbers: to compare.
        eligible: which of them may be the few (n,).
        most: share of the numbers that may be few.
    """
    few = max(int(most * len(numbers)), 2)
    for signed in (numbers, -numbers):
        order = np.argsort(signed)
        side, may = signed[order], eligible[order]
        gaps, widths = np.diff(side)[-few:-1], (side - side[0])[-few - 1 : -2]
        if np.any((gaps > widths) & may[-few:-1]):
            return True
    return False
