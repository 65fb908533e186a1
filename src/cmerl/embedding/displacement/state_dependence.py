"""Whether rewards are known to depend on the state, or on the action alone.

While they are not, nothing is known to be worth going to. What actions cost is no measure of what places may pay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.fit_rows import reward_rows
from cmerl.embedding.displacement.motion import Motion, varies
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.kernels.fitting import fit, starting_at

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
    by_action = _evidence(some.a, r, settings)
    enough = by_action + float(np.log(len(some)))
    return any(_evidence(Z, r, settings) > enough for Z in (some.z, np.hstack([some.y, some.a])))


def _evidence(Z: FloatArray, r: FloatArray, settings: DisplacementSettings) -> float:
    """Of the likeliest of the kernels that several starts lead to."""
    starts = (starting_at(start, Z) for start in settings.starts)
    return max(fit(Z, r, start=start, most_steps=settings.fit_steps).evidence for start in starts)


def differ(rewards: FloatArray) -> bool:
    """Whether rewards (n,) differ by more than rounding, of their size or of 1."""
    return varies(float(np.ptp(rewards)), max(1.0, float(np.abs(rewards).max())))
