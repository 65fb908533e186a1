"""Budgeted exploration: the best action by an optimistic plan among those that the greedy plan can afford."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cmerl.acting.base import EpisodeActor
from cmerl.exploration import Allowance
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExplorationBudget:
    """The interface of an exploration budget, for actors.

    Attributes:
        allowance: what the episode may spend.
        greedy: the plan on the mean model that deviations are charged by; None where the actor has values of its own.
    """

    allowance: Allowance
    greedy: Plan | None

    def begun(self) -> ExplorationBudget:
        """The budget of a new episode, with its own charges."""
        return ExplorationBudget(replace(self.allowance), self.greedy)


@dataclass(frozen=True, eq=False)
class BudgetedActor:
    """Acts on an optimistic plan, as far as that can be paid.

    Attributes:
        inner: acts on the optimistic plan without a budget.
        plan: the optimistic plan.
        actions: the candidates (A, d_a).
        exploration: the greedy plan and the allowance.
    """

    inner: EpisodeActor
    plan: Plan
    actions: FloatArray
    exploration: ExplorationBudget

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The action (d_a,) at an encoded state (1, d)."""
        optimistic, charges, promise = self.plan.q(state, step), *self.charges(state, step)
        allowance = self.exploration.allowance
        cheap = charges <= allowance.affords()
        best = int(self.plan.best(np.where(cheap, optimistic, -np.inf), step)[0])
        allowance.pay(float(charges[best]), promise)
        if best == int(self.plan.best(optimistic, step)[0]):
            return self.inner.act(state, step)
        return np.asarray(self.actions[best])

    def charges(self, state: FloatArray, step: int) -> tuple[FloatArray, float]:
        """max_b Q_g − Q_g (A,), for one of the steps that a backup holds the action for; and max_b Q_g."""
        greedy = self.exploration.greedy
        assert greedy is not None
        shift = greedy.shift(step)
        worth = np.clip(greedy.q(state, step)[0] - shift, 0.0, greedy.task.cap(step))
        return (worth.max() - worth) / greedy.repeat, float(worth.max() + shift)
