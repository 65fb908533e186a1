"""Policies: rules for acting that speak the environment's language."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.actions import refine
from cmerl.agents.actions import ActionSet
from cmerl.agents.base import check_step
from cmerl.agents.spaces import StateSpace
from cmerl.embedding import ContinuousView, View
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]

REACH = 0.125  # half the distance between candidates of one dimension


@dataclass(frozen=True)
class PlanPolicy:
    """What a plan would do."""

    plan: Plan
    states: StateSpace
    actions: ActionSet

    def __call__(self, obs: Any, step: int) -> Any:
        """The planned action for an observation at ``step``."""
        check_step(step, self.plan.task.problem.horizon)
        state = self.states.encode(obs)
        best = self.plan.act(state, step)[0]
        if not self._refinable:
            return self.actions.values[best]
        start = self.actions.rows[best]
        value = float(self._q(state, step, start[None])[0])
        row = refine(lambda rows: self._q(state, step, rows), start, value, REACH)
        return self.actions.values[best] if row is start else self.actions.decode(row)

    @cached_property
    def _refinable(self) -> bool:
        """Whether Q can be asked for actions other than the candidates."""
        known = self.plan.task.known_reward is not None  # for the candidates only
        return self.actions.continuous and not known and len(self._at(self.actions.rows[:1])) == len(self.plan.views)

    def _at(self, rows: FloatArray) -> list[View]:
        """The plan's views at these actions (k, d_a), those that can look there."""
        moved = [view.with_actions(rows) for view in self.plan.views if isinstance(view, ContinuousView)]
        return [view for view in moved if view is not None]

    def _q(self, state: FloatArray, step: int, rows: FloatArray) -> FloatArray:
        """Q (k,) of actions (k, d_a) at one state (1, d)."""
        return np.asarray(replace(self.plan, views=self._at(rows)).q(state, step)[0])

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The planned action at every step and observation (H, S), where actions are numbers."""
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
