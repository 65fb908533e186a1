"""Reward surprise: whether rewards that are yet to be learned are predicted far worse than by their mean."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.motion import Motion


def misjudges_rewards(dynamics: Dynamics, batch: Motion, *, most: float) -> bool:
    """Whether the mean squared error of new rewards exceeds ``most`` times the variance of those learned.

    Terminal transitions are excluded: the termination rule predicts their reward.
    """
    missed = (batch.r - dynamics.step(batch.x, batch.a)[1])[~batch.ended]
    return len(missed) > 0 and float(np.square(missed).mean()) > most * float(np.var(dynamics.data.r))
