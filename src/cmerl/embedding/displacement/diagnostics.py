"""What a displacement model has chosen, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.dynamics import Dynamics
from cmerl.embedding.displacement.reward_kernel import RewardKernel
from cmerl.kernels.additive_fitting import AdditiveFit
from cmerl.kernels.fitting import Fit

FloatArray = NDArray[np.float64]


def kernels_in_words(displacement: Sequence[Fit | None], reward: RewardKernel) -> dict[str, Any]:
    """The kernels of displacements and of rewards."""
    return {
        "displacement kernels": [_words(fit) for fit in displacement],
        "reward kernel": _words(reward.fit) + (" of the next state" if reward.at_next else ""),
    }


def explained(dynamics: Dynamics) -> float:
    """Share of the variance of s' − s that the model explains, leave-one-out."""
    moved = dynamics.data.y - dynamics.data.x
    return float(1.0 - dynamics.residuals.var(axis=0).sum() / max(float(moved.var(axis=0).sum()), 1e-300))


def rounded(values: FloatArray) -> list[float]:
    """Numbers with three digits."""
    return [float(f"{v:.3g}") for v in values]


def _words(chosen: Fit | AdditiveFit | None) -> str:
    if chosen is None:
        return "constant"
    if isinstance(chosen, AdditiveFit):
        states, actions = rounded(chosen.state_lengthscales), rounded(chosen.action_lengthscales)
        return (
            f"Matérn-3/2 of states, lengthscales {states}, plus {chosen.weight:.2g} times RBF of actions, "
            f"lengthscales {actions}, with ridge {chosen.ridge:.2g}"
        )
    return f"RBF of lengthscales {rounded(chosen.lengthscales)} with ridge {chosen.ridge:.2g}"
