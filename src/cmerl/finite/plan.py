"""Tabular plans from KL-optimistic values, with the methods of ``planning.Plan``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import View
from cmerl.finite.counts import FiniteWorld
from cmerl.finite.values import Balls
from cmerl.planning import TIE, RewardEstimate, Task
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class TablePlan:
    """A plan by tables on all states of a finite MDP.

    Attributes:
        balls: what was counted there.
        Q: (H, S, A), less r_min per step.
        V: (H+1, S), likewise; never more than the largest Q, and where bounds are kept the least so far.
        first: the number of the first state, as states are encoded.
        task: what was planned for.
        views: the embedding as it was.
        order: actions in the order in which ties are broken, at every step (H, A).
        episode: t, the episodes begun when it was made, this one included.
        transitions: how many it was made from.
        sign: +1 for an optimistic plan, −1 for a pessimistic one.
    """

    balls: Balls
    Q: FloatArray
    V: FloatArray
    first: float
    task: Task
    views: Sequence[View]
    order: IntArray
    episode: int
    transitions: int
    sign: float = 1.0
    first_step: int = 0
    rewards: Sequence[RewardEstimate | None] = (None,)

    @property
    def world(self) -> FiniteWorld:
        """What is known without data."""
        return self.balls.world

    def q(self, states: Points, step: int) -> FloatArray:
        """Q (q, A) at ``step`` in the environment's units, unclipped."""
        return np.asarray(self.Q[step, self._index(states)] + self.shift(step))

    def value(self, states: Points, step: int) -> FloatArray:
        """V (q,) at ``step`` in the environment's units."""
        return np.asarray(self.V[step, self._index(states)] + self.shift(step))

    def act(self, states: Points, step: int) -> IntArray:
        """Index of the best action (q,) at ``step``."""
        return self._best(self.Q[step, self._index(states)], step)

    def table(self, states: Points) -> IntArray:
        """Index of the best action at every step and state (H, q)."""
        rows = self._index(states)
        return np.stack([self._best(q[rows], step) for step, q in enumerate(self.Q)])

    def q_table(self, states: Points) -> FloatArray:
        """Q at every step and state (H, q, A) in the environment's units, unclipped."""
        shifts = np.array([self.shift(step) for step in range(self.world.horizon)])
        return np.asarray(self.Q[:, self._index(states)] + shifts[:, None, None])

    def value_table(self, states: Points) -> FloatArray:
        """V at every step and state (H, q), less r_min per step."""
        return np.asarray(self.V[:-1, self._index(states)])

    def bonus(self, states: Points, step: int) -> FloatArray:
        """By how much Q (q, A) exceeds what the data support at ``step``; the other way round if pessimistic."""
        rows = self._index(states)
        return np.asarray(self.sign * (self.Q[step] - self.balls.expected(self.V)[step])[rows])

    def shift(self, step: int) -> float:
        """The offset of a value at ``step`` to the environment's units."""
        return self.world.r_min * (self.world.horizon - step)

    def _index(self, states: Points) -> IntArray:
        return (np.asarray(states)[:, 0] - self.first).astype(np.intp)

    def _best(self, q: FloatArray, step: int) -> IntArray:
        order = self.order[step]
        q = q[:, order]
        tolerance = TIE * self.world.horizon * self.world.width
        first: IntArray = np.argmax(q >= q.max(axis=1, keepdims=True) - tolerance, axis=1)
        return np.asarray(order[first])
