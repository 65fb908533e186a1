"""Policies: rules for acting that speak the environment's language."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.actions import refine
from cmerl.agents.base import check_step
from cmerl.agents.lookahead import Lookahead
from cmerl.embedding import ContinuousView, SmoothView
from cmerl.errors import InputError
from cmerl.finite import TablePlan
from cmerl.planning import Plan
from cmerl.q_gradient import Hill
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PlanPolicy:
    """What a plan would do.

    Attributes:
        plan: the plan.
        states: how observations are encoded.
        actions: the actions that were planned with.
        ahead: looks ahead from the states that are met, one after the other; None where the plan alone decides.
    """

    plan: Plan | TablePlan
    states: StateSpace
    actions: ActionSet
    ahead: Lookahead | None = None

    def __call__(self, obs: Any, step: int) -> Any:
        """The planned action for an observation at ``step``."""
        check_step(step, self.plan.task.problem.horizon)
        state = self.states.encode(obs)
        best = self.plan.act(state, step)[0] if self.ahead is None else self.ahead.act(state, step)
        if self.ahead is not None or not self._refinable:
            return self.actions.values[best]
        assert isinstance(self.plan, Plan)  # tables are for finitely many actions
        hill, start = Hill(self.plan, state, step), self.actions.rows[best]
        height = float(hill(start[None])[0])
        row = start if height == -np.inf else refine(hill, hill.slope, start, height)
        return self.actions.values[best] if row is start else self.actions.decode(row)

    @cached_property
    def _refinable(self) -> bool:
        """Whether actions between the candidates can be compared, and that is worth its time.

        A displacement is slow to ask, and in one dimension candidates leave nothing to gain.
        """
        view, rows = self.plan.views[0], self.actions.rows
        if self.plan.task.known_reward is not None or not self.actions.continuous:  # known for the candidates only
            return False
        if rows.shape[1] == 1 and not isinstance(view, SmoothView):
            return False
        return isinstance(view, ContinuousView) and view.with_actions(rows[:1]) is not None

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The planned action at every step and observation (H, S), where actions are numbers."""
        if self.ahead is not None:
            raise InputError("this policy looks ahead from the states that it meets and has no table: play it")
        values = np.array([int(a) for a in self.actions.values], dtype=np.intp)
        return values[self.plan.table(self.states.encode_many(observations))]


@dataclass(frozen=True)
class RandomPolicy:
    """Uniformly random actions, fixed for one episode: the same step always draws the same action."""

    space: gymnasium.Space[Any]
    seed: int
    episode: int
    horizon: int

    def __call__(self, obs: Any, step: int) -> Any:
        """The action drawn for ``step``; the observation does not matter."""
        check_step(step, self.horizon)
        sequence = np.random.SeedSequence(self.seed, spawn_key=(2, self.episode, step))
        space = copy.deepcopy(self.space)
        space.seed(int(sequence.generate_state(1)[0]))
        action = space.sample()
        return int(action) if isinstance(space, gymnasium.spaces.Discrete) else action

    def probabilities(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The law that actions are drawn from (H, S, A), for exact evaluation."""
        assert isinstance(self.space, gymnasium.spaces.Discrete)
        A = int(self.space.n)
        return np.full((self.horizon, len(observations), A), 1.0 / A)
