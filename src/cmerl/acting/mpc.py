"""Model-predictive control: at every few steps, search for the best sequence of actions, and play its beginning.

A search looks as far ahead as the model can be trusted, and reads a terminal value there: one that was fitted for
searches, or that of the plan.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cmerl.acting.icem import Channels, Found, Score, Search, noise_bank, search
from cmerl.acting.terminal_value import TerminalSettings, roll, terminal_value
from cmerl.acting.thrifty import Spending
from cmerl.embedding.displacement.grid import DisplacementView
from cmerl.finite import TablePlan
from cmerl.planning import Plan, clip_value

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

BANK = 2048  # sequences of noise drawn once an episode


@dataclass(frozen=True, kw_only=True)
class MPC:
    """Searches by simulation.

    Args:
        every: steps that are played of each search.
        value: what ends a search: "fitted" for a value made for that, "plan" for that of the plan.
        surprise: standard deviations by which a state may miss what was expected for a search to go on from there.
        search: sizes of the search.
        terminal: sizes of the fitted value.
    """

    every: int = 2
    value: Literal["fitted", "plan"] = "fitted"
    surprise: float = 0.5
    search: Search = field(default_factory=Search)
    terminal: TerminalSettings = field(default_factory=TerminalSettings)

    def begin_episode(
        self, plan: Plan | TablePlan, actions: FloatArray, seed: Sequence[int], spending: Spending | None = None
    ) -> MPCEpisode:
        """Search through one episode; without ``spending`` the plan is the one to be greedy on."""
        assert isinstance(plan, Plan)  # tables are for finite worlds
        return MPCEpisode(self, plan, actions, tuple(seed), spending)


class MPCEpisode:
    """Searches that go on through one episode, from one state or from several at once."""

    def __init__(
        self,
        settings: MPC,
        plan: Plan,
        actions: FloatArray,
        seed: tuple[int, ...],
        spending: Spending | None = None,
    ) -> None:
        (view,) = plan.views
        assert isinstance(view, DisplacementView)
        self._settings, self._plan, self._view, self._actions, self._seed = settings, plan, view, actions, seed
        self._horizon = plan.task.problem.horizon
        self._depth = min(view.depth, self._horizon)
        self.channels = (
            Channels(choices=(view.actions.astype(np.float32),))
            if view.categorical
            else Channels(continuous=view.actions.shape[1])
        )
        rng = np.random.default_rng(seed)
        self._terminal = (
            terminal_value(view.dynamics, self.channels, self._horizon, settings.terminal, settings.search)
            if settings.value == "fitted"
            else None
        )  # made before the first action is asked for, which may be in a hurry
        self._bank = noise_bank(rng, settings.search, BANK, self._depth, self.channels.latent)
        self._spending = spending
        self._expected: tuple[SingleArray, int] | None = None  # the state that the last action leads to, and its step
        self._found: Found | None = None
        self._decided = 0

    def expects(self, state: FloatArray, step: int) -> bool:
        """Whether the search has led to this state (1, d) at this step, so that it can go on from there."""
        if self._expected is None or step != self._expected[1]:
            return False
        return bool(np.all(np.abs(self._view.scaled(state) - self._expected[0]) <= self._settings.surprise))

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The action (d_a,) at an encoded state (1, d)."""
        x = self._view.scaled(state)
        features = self.features(x, step, deadline)
        there, _, _ = self._view.dynamics.quick_step(x.astype(np.float32), features.astype(np.float32))
        self._expected = there, step + 1
        return np.asarray(self._actions[self._number(features)] if self._view.categorical else features[0])

    def _number(self, features: FloatArray) -> int:
        return int(np.square(self._view.actions - features[0]).sum(axis=1).argmin())

    def features(self, x: NDArray[Any], step: int, deadline: float | None = None) -> FloatArray:
        """Features of the actions (b, e) at states (b, d) in the units of the model."""
        since = step - self._decided
        found = self._found
        if found is None or len(found.best) != len(x) or not 0 < since < self._settings.every:
            goes_on = found is not None and len(found.best) == len(x) and since == self._settings.every
            before = found.memory.shifted(since) if found is not None and goes_on else None
            if before is None and deadline is not None and time.perf_counter() > deadline:
                return np.asarray(self._view.actions[self._plan.act(x * self._view.scale + self._view.centre, step)])
            found = self._found = search(
                self._score(x.astype(np.float32), step),
                self.channels,
                self._bank,
                np.random.default_rng((*self._seed, step)),
                self._settings.search,
                states=len(x),
                before=before,
                balance=self._spending.allowance.affords() if self._spending is not None else 0.0,
                deadline=deadline,
            )
            if self._spending is not None and np.isfinite(found.promise[0]):
                self._spending.allowance.pay(float(found.charge[0]), float(found.promise[0]))
            self._decided, since = step, 0
        return np.asarray(self.channels.decode(found.best[:, since]), dtype=np.float64)

    @property
    def promise(self) -> FloatArray:
        """What the best sequences of the last search are worth, from each of its states (b,)."""
        assert self._found is not None
        return self._found.promise

    def _score(self, x: SingleArray, step: int) -> Score:
        """What sequences (b, n, h, e) are worth from states (b, d) at ``step``."""
        steps = min(self._depth, self._horizon - step)
        discount = self._settings.terminal.discount(self._horizon)

        def score(sequences: SingleArray) -> tuple[SingleArray, SingleArray | None]:
            b, n = sequences.shape[:2]
            trials = sequences[:, :, :steps].reshape(b * n, steps, -1)
            total, y, over = roll(self._view.dynamics, np.repeat(x, n, axis=0), trials, discount)
            spending, hope = self._spending, None
            if step + steps < self._horizon:
                alive = np.float32(discount**steps) * (1.0 if over is None else ~over)
                if spending is not None:
                    hope = (total + alive * self._planned(self._plan, y, step + steps)).reshape(b, n)
                total = total + alive * self._value(y, step + steps)
            return total.reshape(b, n), hope

        return score

    def _value(self, y: SingleArray, step: int) -> SingleArray:
        if self._terminal is not None:
            return self._terminal(y)
        greedy = None if self._spending is None else self._spending.greedy
        return self._planned(greedy or self._plan, y, step)

    def _planned(self, plan: Plan, y: SingleArray, step: int) -> SingleArray:
        """V of a plan at about that step, in the environment's units."""
        stage = plan.stages[max(step - plan.repeat - plan.first_step, 0)]
        later = self._view.value(stage.coef, y) / plan.task.discount**plan.repeat
        return np.asarray(clip_value(later, plan.task, stage.until) + plan.shift(stage.until), dtype=np.float32)
