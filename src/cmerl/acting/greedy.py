"""The greedy actor: the candidate with the largest Q [CO22, Alg. 1, line 8]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.acting.base import EpisodeActor
from cmerl.acting.budgeted import BudgetedActor, ExplorationBudget
from cmerl.finite import TablePlan
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Greedy:
    """The best of the candidates."""

    def begin_episode(
        self,
        plan: Plan | TablePlan,
        actions: FloatArray,
        seed: Sequence[int],
        exploration: ExplorationBudget | None = None,
    ) -> EpisodeActor:
        """Nothing is drawn and nothing remembered."""
        actor = GreedyActor(plan, actions)
        if exploration is None or isinstance(plan, TablePlan):
            return actor
        return BudgetedActor(actor, plan, actions, exploration)


@dataclass(frozen=True, eq=False)
class GreedyActor:
    """Acts greedily on one plan."""

    plan: Plan | TablePlan
    actions: FloatArray

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The best candidate (d_a,); there is nothing to cut short."""
        return np.asarray(self.actions[self.plan.act(state, step)[0]])
