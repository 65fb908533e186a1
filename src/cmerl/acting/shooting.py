"""Random-shooting MPC: play the best of many sequences of actions that the model was asked about.

Where V is hard to interpolate, one step and V are not enough to tell a good action from a bad one; thirty steps and V
are. Sequences are drawn around the best one so far, and inside an episode every search goes on from the one before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import SimulatingView
from cmerl.finite import TablePlan
from cmerl.planning import Plan, clip_value

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Shooting:
    """Searches by simulation; the end of a sequence is worth what the plan says.

    Args:
        hold: steps for which a sequence holds each of its actions.
        length: actions of a sequence.
        trials: sequences that are tried at each decision.
        first_rounds: as many more times at the first decision.
        shares: of its actions in which a trial differs from the best so far.
        landmarks: states at which V is known: it only ends a search, so they may be few.
        batch: sequences that are tried at once when time is limited.
        surprise: standard deviations by which a state may miss what was expected for a search to go on from there.
    """

    hold: int = 3
    length: int = 10
    trials: int = 128
    first_rounds: int = 5
    shares: tuple[float, ...] = (0.1, 0.3, 0.6)
    landmarks: int = 300
    batch: int = 16
    surprise: float = 0.5

    def begin_episode(self, plan: Plan | TablePlan, actions: FloatArray, seed: Sequence[int]) -> ShootingActor:
        """Search through one episode."""
        assert isinstance(plan, Plan)  # tables are for finite worlds
        return ShootingActor(self, plan, actions, tuple(seed))


class ShootingActor:
    """A search that goes on through one episode."""

    def __init__(self, settings: Shooting, plan: Plan, actions: FloatArray, seed: tuple[int, ...]) -> None:
        (view,) = plan.views
        assert isinstance(view, SimulatingView)
        self._settings, self._plan, self._view = settings, plan, view
        self._actions, self._seed = actions, seed
        self._best: IntArray | None = None
        self._decided = 0  # the step at which
        self._last: tuple[FloatArray, int] | None = None  # the state and step asked for last
        self._pace = 0.0  # seconds that a batch of trials took, the slowest of late

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The action (d_a,) at an encoded state (1, d)."""
        chosen = self.choose(state, step, deadline)
        self._last = state[0], step
        return np.asarray(self._actions[chosen])

    def choose(self, state: FloatArray, step: int, deadline: float | None = None) -> int:
        """Its number."""
        since, hold = step - self._decided, self._settings.hold
        if self._best is not None and 0 < since < hold:
            return int(self._best[0])
        if self._best is not None and since == hold:
            best, rounds = np.append(self._best[1:], self._best[-1]), 1
        else:
            best, rounds = self._plan.act(state, step).repeat(self._settings.length), self._settings.first_rounds
        rng = np.random.default_rng((*self._seed, step))
        for _ in range(rounds):
            trials = self._trials(best, rng)
            if deadline is None:
                best = trials[int(np.argmax(self._returns(state[0], trials, step)))]
            else:
                best = self._best_by(deadline, state[0], trials, step)
        self._best, self._decided = best, step
        return int(best[0])

    def _best_by(self, deadline: float, state: FloatArray, trials: IntArray, step: int) -> IntArray:
        """The best of the trials that can be followed by then, in batches; the first one is the best so far."""
        best, most = trials[0], -np.inf
        for batch in np.array_split(trials, -(-len(trials) // self._settings.batch)):
            begun = time.perf_counter()
            if begun + self._pace > deadline:
                break
            returns = self._returns(state, batch, step)
            if returns.max() > most:
                best, most = batch[int(np.argmax(returns))], float(returns.max())
            self._pace = max(0.9 * self._pace, time.perf_counter() - begun)
        return np.asarray(best)

    def expects(self, state: FloatArray, step: int) -> bool:
        """Whether the search has led to this state (1, d) at this step, so that it can go on from there."""
        if self._best is None or self._last is None or step != self._last[1] + 1:
            return False
        there, _, _ = self._view.follow(self._last[0], self._best[None, :1], 1, 1)
        return bool((np.abs(self._view.scaled(state[0]) - there[0]) <= self._settings.surprise).all())

    def _trials(self, best: IntArray, rng: np.random.Generator) -> IntArray:
        """Sequences (n, k): the best so far, and some that differ from it here and there."""
        count = self._settings.trials
        shape = count, len(best)
        others = rng.integers(0, len(self._actions), shape)
        trials = np.where(rng.random(shape) < rng.choice(self._settings.shares, (count, 1)), others, best)
        trials[0] = best
        return trials

    def _returns(self, state: FloatArray, trials: IntArray, step: int) -> FloatArray:
        """What sequences (n, k) earn from a state (d,) on, and V where they end (n,)."""
        task, hold = self._plan.task, self._settings.hold
        steps = min(hold * trials.shape[1], task.problem.horizon - step)
        there, rewards, ended = self._view.follow(state, trials, hold, steps)
        earned = task.discount ** np.arange(steps) @ rewards
        if step + steps < task.problem.horizon:
            earned += task.discount**steps * np.where(ended, 0.0, self._values(there, step + steps))
        return np.asarray(earned)

    def _values(self, there: FloatArray, step: int) -> FloatArray:
        """V where sequences end, as the plan has it at about that step, in the environment's units."""
        plan = self._plan
        stage = plan.stages[max(step - plan.repeat - plan.first_step, 0)]
        later = self._view.value(stage.coef, there) / plan.task.discount**plan.repeat
        return np.asarray(clip_value(later, plan.task, stage.until) + plan.shift(stage.until))
