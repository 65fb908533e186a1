"""Model-predictive control: every few steps, search for the best action sequence and play its beginning.

The terminal value is either fitted for searches or the value of the plan.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cmerl.acting.budgeted import ExplorationBudget
from cmerl.acting.followed_policy import PolicySettings, followed_policy
from cmerl.acting.terminal_value import TerminalSettings, terminal_value
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.errors import InputError
from cmerl.finite import TablePlan
from cmerl.planning import Plan, clip_value
from cmerl.searching.episode import Searches, Value, scorer
from cmerl.searching.icem import Channels, Score, Search

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class MPC:
    """Searches by simulation.

    Args:
        every: steps that are played of each search.
        depth: steps that each search looks ahead, at most.
        value: what ends a search: "fitted" for a value made for that, "plan" for that of the plan.
        search: sizes of the search.
        terminal: sizes of the fitted value.
        policy: sizes of the policy that proposes sequences.
    """

    every: int = 2
    depth: int = 14
    value: Literal["fitted", "plan"] = "fitted"
    search: Search = field(default_factory=Search)
    terminal: TerminalSettings = field(default_factory=TerminalSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)

    def __post_init__(self) -> None:
        if not 1 <= self.every <= self.depth:
            raise InputError(
                "a search must look at least as far ahead as is played of it: 1 ≤ every ≤ depth, "
                f"not every={self.every}, depth={self.depth}"
            )

    @staticmethod
    def channels(view: DisplacementView) -> Channels:
        """Of the actions of a model."""
        if view.categorical:
            return Channels(choices=(view.actions.astype(np.float32),))
        return Channels(continuous=view.actions.shape[1])

    def begin_episode(
        self,
        plan: Plan | TablePlan,
        actions: FloatArray,
        seed: Sequence[int],
        exploration: ExplorationBudget | None = None,
    ) -> MPCEpisode:
        """Search through one episode; without ``exploration`` the plan is the one to be greedy on."""
        assert isinstance(plan, Plan)  # tables are for finite worlds
        return MPCEpisode(self, plan, actions, tuple(seed), exploration)


class MPCEpisode:
    """Searches that go on through one episode, from one state or from several at once."""

    def __init__(
        self,
        settings: MPC,
        plan: Plan,
        actions: FloatArray,
        seed: tuple[int, ...],
        exploration: ExplorationBudget | None = None,
    ) -> None:
        (view,) = plan.views
        assert isinstance(view, DisplacementView)
        self._settings, self._plan, self._view, self._actions = settings, plan, view, actions
        self._horizon = plan.task.problem.horizon
        self._depth = min(settings.depth, self._horizon)
        self.channels = settings.channels(view)
        self._terminal = (
            terminal_value(
                view.dynamics, self.channels, self._horizon, settings.terminal, settings.search, settings.policy
            )
            if settings.value == "fitted"
            else None
        )  # made before the first action is asked for, which may be in a hurry
        policy = followed_policy(view.dynamics, self.channels, settings.policy) if settings.search.proposals else None
        self._searches = Searches(
            self.channels, settings.search, settings.every, self._depth, view.dynamics.simulator, seed, policy
        )
        self._exploration = exploration

    def expects(self, state: FloatArray, step: int) -> bool:
        """Whether the search has led to this state (1, d) at this step, so that it can continue from there."""
        return self._searches.led_to(self._view.scaled(state), step)

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The action (d_a,) at an encoded state (1, d)."""
        x = self._view.scaled(state)
        features = self.features(x, step, deadline)
        self._searches.played(x, features, step)
        if not self._view.categorical:
            return np.asarray(features[0])
        return np.asarray(self._actions[np.square(self._view.actions - features[0]).sum(axis=1).argmin()])

    def features(self, x: NDArray[Any], step: int, deadline: float | None = None) -> FloatArray:
        """Features of the actions (b, e) at states (b, d) in the units of the model."""
        searches, exploration = self._searches, self._exploration
        if searches.due(len(x), step):
            late = deadline is not None and time.perf_counter() > deadline
            if late and not searches.goes_on(len(x), step):
                return np.asarray(self._view.actions[self._plan.act(x * self._view.scale + self._view.centre, step)])
            balance = 0.0 if exploration is None else exploration.allowance.affords()
            single = x.astype(np.float32)
            found = searches.search(self.score(single, step), single, step, balance, deadline)
            if exploration is not None and np.isfinite(found.promise[0]):
                exploration.allowance.pay(float(found.charge[0]), float(found.promise[0]))
        return searches.features(step)

    @property
    def promise(self) -> FloatArray:
        """Value of the best sequences of the last search, from each of its states (b,)."""
        assert self._searches.found is not None
        return self._searches.found.promise

    def score(self, x: SingleArray, step: int) -> Score:
        """Values of sequences (b, n, h, e) from states (b, d) at ``step``."""
        steps = min(self._depth, self._horizon - step)
        value: Value | None = None
        optimistic: Value | None = None
        if step + steps < self._horizon:
            value = partial(self._value, step=step + steps)
            optimistic = None if self._exploration is None else partial(self._planned, self._plan, step=step + steps)
        discount = self._settings.terminal.discount(self._horizon)
        return scorer(self._view.dynamics.quick_step, x, steps, discount, value, optimistic)

    def _value(self, y: SingleArray, step: int) -> SingleArray:
        if self._terminal is not None:
            return self._terminal(y)
        greedy = None if self._exploration is None else self._exploration.greedy
        return self._planned(greedy or self._plan, y, step)

    def _planned(self, plan: Plan, y: SingleArray, step: int) -> SingleArray:
        """V of a plan at about that step, in the environment's units."""
        stage = plan.stages[max(step - plan.repeat - plan.first_step, 0)]
        later = self._view.value(stage.coef, y)
        return np.asarray(clip_value(later, plan.task, stage.until) + plan.shift(stage.until), dtype=np.float32)
