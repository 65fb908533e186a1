"""Look ahead with a model: which sequence of actions does best, where it ends being worth what a plan says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import DisplacementModel
from cmerl.planning import Plan, clip_value

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

HOLD = 3  # steps for which a sequence holds each of its actions
LENGTH = 10  # actions of a sequence
TRIALS = 128  # sequences that are tried at each decision
FIRST_ROUNDS = 5  # as many more times at the first one
SHARES = (0.1, 0.3, 0.6)  # of its actions in which a trial differs from the best so far


class Lookahead:
    """Acts by the best of many sequences of actions that the model was asked about.

    Where V is hard to interpolate, one step and V are not enough to tell a good action from a bad one; thirty steps
    and V are. Sequences are drawn around the best one so far, and every search goes on from the one before.

    Args:
        plan: made with a displacement; says what states are worth at the end of a sequence.
        seed: of the sequences that are tried.
    """

    def __init__(self, plan: Plan, seed: Sequence[int]) -> None:
        (model,) = plan.views
        assert isinstance(model, DisplacementModel)
        self._plan, self._model, self._seed = plan, model, tuple(seed)
        self._best: IntArray | None = None
        self._decided = 0  # the step at which

    def act(self, state: FloatArray, step: int) -> int:
        """Number of the action at an encoded state (1, d), asked for step after step."""
        since = step - self._decided
        if self._best is not None and 0 < since < HOLD:
            return int(self._best[0])
        x = self._model.scaled(state)[0]
        if self._best is not None and since == HOLD:
            best, rounds = np.append(self._best[1:], self._best[-1]), 1
        else:
            best, rounds = self._plan.act(state, step).repeat(LENGTH), FIRST_ROUNDS
        rng = np.random.default_rng((*self._seed, step))
        for _ in range(rounds):
            best = self._better(x, self._trials(best, rng), step)
        self._best, self._decided = best, step
        return int(best[0])

    def _trials(self, best: IntArray, rng: np.random.Generator) -> IntArray:
        """Sequences (n, k): the best so far, and some that differ from it here and there."""
        shape = TRIALS, len(best)
        others = rng.integers(0, len(self._model.actions), shape)
        trials = np.where(rng.random(shape) < rng.choice(SHARES, (TRIALS, 1)), others, best)
        trials[0] = best
        return trials

    def _better(self, x: FloatArray, trials: IntArray, step: int) -> IntArray:
        """The best of some sequences (n, k)."""
        return np.asarray(trials[int(np.argmax(self._worth(x, trials, step)))])

    def _worth(self, x: FloatArray, trials: IntArray, step: int) -> FloatArray:
        """What sequences (n, k) earn from a state x (d,) on, and V where they end (n,)."""
        task = self._plan.task
        steps = min(HOLD * trials.shape[1], task.problem.horizon - step)
        y, rewards, ended = self._model.dynamics.follow(x, trials, HOLD, steps)
        worth = task.discount ** np.arange(steps) @ rewards
        if step + steps < task.problem.horizon:
            worth += task.discount**steps * np.where(ended, 0.0, self._values(y, step + steps))
        return np.asarray(worth)

    def _values(self, y: FloatArray, step: int) -> FloatArray:
        """V at states y (n, d) of the model, as the plan has it at about that step, in the environment's units."""
        plan, repeat = self._plan, int(self._model.repeat)
        stage = plan.stages[max(step - repeat - plan.first_step, 0)]
        later = self._model.interpolant(y, single=True) @ stage.coef.coef.astype(np.float32) + stage.coef.mean
        v = clip_value(later / plan.task.discount**repeat, plan.task, stage.until)
        return np.asarray(v + plan.shift(stage.until))
