"""The protocol of actors, which turn plans into actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.finite import TablePlan
from cmerl.planning import Plan

if TYPE_CHECKING:
    from cmerl.acting.budgeted import ExplorationBudget

FloatArray = NDArray[np.float64]


class EpisodeActor(Protocol):
    """Acts through one episode, and may remember what it has found on the way.

    One that searches has a method ``expects(state, step)`` as well: whether its search has led there.
    """

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The action (d_a,) at an encoded state (1, d), asked for step after step.

        Args:
            state: the state.
            step: the step.
            deadline: by ``time.perf_counter``, when a search must stop and give the best found so far; None lets it
                take the time it needs.
        """
        ...


class Actor(Protocol):
    """A way to act on plans; it holds no state of its own."""

    def begin_episode(
        self,
        plan: Plan | TablePlan,
        actions: FloatArray,
        seed: Sequence[int],
        exploration: ExplorationBudget | None = None,
    ) -> EpisodeActor:
        """Act on a plan over candidate actions (A, d_a).

        Args:
            plan: the plan.
            actions: what it ranges over.
            seed: of what is drawn.
            exploration: what exploring may cost; None for no limit.
        """
        ...
