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
        attained: share of the best reward seen that good episodes earn at a distractor: from there on the direct
            embedding takes over, which tries every place.
        most_columns: columns of a state up to which it can.
        room: the same only if no bound is given, or one of at least so many times what good episodes earn.
        held_out: transitions that models are compared on.
        dependence: a prediction depends on a column if shuffling that changes it by this share of its variance.
        residuals: of a displacement, standing for its noise.
        repeats: steps for which plans may hold an action.
        starts: first states that plans are simulated from.
        search_starts: of these that searches are simulated from, all at once.
        simulated_steps: most steps of a simulation.
        near: residuals of the nearest transitions that the noise of a simulation is drawn from.
        depths: steps that searches may look ahead.
        check: whether the actor is simulated again after every episode, with the new terminal value and with the one
            that it had: it goes on with the better one, and is chosen anew if it does worse with both.
        search: the first search: its sizes, its depth and its terminal value.
    """

    margin: float = 0.75
    attained: float = 0.6
    most_columns: int = 2
    room: float = 2.0
    held_out: int = 300
    dependence: float = 0.02
    residuals: int = 16
    repeats: tuple[int, ...] = (1, 2, 3, 5)
    starts: int = 8
    search_starts: int = 3
    simulated_steps: int = 100
    near: int = 10
    depths: tuple[int, ...] = (8, 14, 22)
    check: bool = True
    search: MPC = field(default_factory=MPC)

    def searches(self, present: MPC) -> tuple[MPC, ...]:
        """Candidates: the present search, with the next smaller and larger depth, and with the other value."""
        depths = (depth for depth in neighbours(self.depths, present.depth) if depth != present.depth)
        other = replace(present, value="plan" if present.value == "fitted" else "fitted")
        return present, *(replace(present, depth=depth) for depth in depths), other


def neighbours(values: tuple[int, ...], value: int) -> tuple[int, ...]:
    """A value that was chosen, the next smaller one and the next larger one; all, where it is no candidate."""
    if value not in values:
        return values
    i = values.index(value)
    return values[max(i - 1, 0) : i + 2]


def exceeds(challenger: FloatArray, incumbent: FloatArray) -> bool:
    """Whether scores (n,) are better than others of the same cases, beyond the standard error of the gain."""
    gains = challenger - incumbent
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    return float(gains.mean()) > error
