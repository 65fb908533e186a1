"""The settings of the selection, and its rule for switching."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cmerl.acting import MPC

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Settings of model selection and actor selection.

    Args:
        margin: of the error of the direct embedding that a displacement may have: its plans take the mean for the
            truth, so it must know the law of the next state much better.
        held_out: transitions that models are compared on.
        residuals: of a displacement, standing for its noise.
        repeats: steps for which plans may hold an action.
        starts: first states that plans are simulated from.
        search_starts: of these that searches are simulated from, all at once.
        simulated_steps: most steps of a simulation.
        near: residuals of the nearest transitions that the noise of a simulation is drawn from.
        search: sizes of searches.
    """

    margin: float = 0.75
    held_out: int = 300
    residuals: int = 16
    repeats: tuple[int, ...] = (1, 2, 3, 5)
    starts: int = 8
    search_starts: int = 3
    simulated_steps: int = 100
    near: int = 10
    search: MPC = field(default_factory=MPC)

    @property
    def searches(self) -> tuple[MPC, ...]:
        """Candidates; the last is taken unless another does better."""
        return replace(self.search, value="plan"), replace(self.search, value="fitted")


def exceeds(challenger: FloatArray, incumbent: FloatArray, *, least: float = 0.0) -> bool:
    """Whether scores (n,) are better than others of the same cases, beyond the standard error of the gain."""
    gains = challenger - incumbent
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    return float(gains.mean()) > max(error, least)
