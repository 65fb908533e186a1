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

FloatArray = NDArray[np.float64]


def depends_on_state(data: Motion, settings: DisplacementSettings) -> bool:
    """True if rewards are known to depend on the state.

    That is so if an episode ended, or if the state makes n rewards more than n times as likely as the action alone:
    the marginal likelihood counts what its lengthscales cost already.

    Args:
        data: what was seen.
        settings: the rows that rewards are regressed on, and the starts of their kernels.
    """
    if data.ended.any():
        return True
    if not differ(data.r):
        return False
    some = data[reward_rows(data.r, settings.fit_rows)]
    r = (some.r - some.r.mean())[:, None] / float(some.r.std())
    by_action = _likeliest(some.a, r, settings.starts)
    enough = by_action.evidence + float(np.log(len(some)))
    return any(_likeliest(Z, r, settings.starts).evidence > enough for Z in (some.z, np.hstack([some.y, some.a])))


def _likeliest(Z: FloatArray, r: FloatArray, starts: Sequence[float], *, most_steps: int = 30) -> Fit:
    """The likeliest of the kernels that several starts lead to."""
    found = (fit(Z, r, start=starting_at(start, Z), most_steps=most_steps) for start in starts)
    return max(found, key=lambda one: one.evidence)


def differ(rewards: FloatArray) -> bool:
    """Whether rewards (n,) differ by more than rounding, of their size or of 1."""
    return varies(float(np.ptp(rewards)), max(1.0, float(np.abs(rewards).max())))
