"""A plan: Q, V and the best action at every state and step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding import Grid, View
from cmerl.planning.site import Basis, RewardEstimate, Site, Stage
from cmerl.planning.task import Task, clip_value
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

TIE = 1e-10  # relative to the largest possible value: closer than this, actions are tied


@dataclass(frozen=True)
class Plan:
    """A deterministic function of (state, step), independent of later learning.

    Attributes:
        task: what was planned for.
        views: the embedding as it was, one, or one per step.
        bases: what each view has regressed once for all steps.
        stages: one per step, from ``first_step`` on.
        order: actions in the order in which ties are broken, at every step (H, A).
        episode: t, the episodes begun when it was made, this one included.
        transitions: how many it was made from.
        first_step: earlier steps were already played when this plan was made.
        sign: +1 for an optimistic plan, −1 for a pessimistic one.
    """

    task: Task
    views: Sequence[View]
    bases: Sequence[Basis]
    stages: Sequence[Stage]
    order: IntArray
    episode: int
    transitions: int
    first_step: int = 0
    sign: float = 1.0
    _sites: dict[tuple[int, bytes], Site] = field(init=False, repr=False, compare=False, default_factory=dict)
    _q: dict[tuple[int, bytes], FloatArray] = field(init=False, repr=False, compare=False, default_factory=dict)

    def q(self, states: Points, step: int) -> FloatArray:
        """Q (q, A) at ``step`` in the environment's units, unclipped."""
        return self.site(states, step).q(self.stages[step - self.first_step]) + self.shift(step)

    def value(self, states: Points, step: int) -> FloatArray:
        """V (q,) at ``step`` in the environment's units."""
        q = self.site(states, step).q(self.stages[step - self.first_step])
        return clip_value(q.max(axis=1), self.task, step, self.sign) + self.shift(step)

    def act(self, states: Points, step: int) -> IntArray:
        """Index of the best action (q,) at ``step``."""
        return self.best(self._q_again(states, step), step)

    def act_on(self, grid: Grid, states: Points, step: int) -> IntArray:
        """Actions of several plans at once, from a shared view."""
        site = self.site_of(grid, states, step)
        return self.best(site.q(self.stages[step - self.first_step]), step)

    def table(self, states: Points) -> IntArray:
        """Index of the best action at every step and state (H, q)."""
        return np.stack([self.best(q, step) for step, q in enumerate(self._all_q(states), start=self.first_step)])

    def q_table(self, states: Points) -> FloatArray:
        """Q at every step and state (H, q, A) in the environment's units, unclipped."""
        shifted = enumerate(self._all_q(states), start=self.first_step)
        return np.stack([q + self.shift(step) for step, q in shifted])

    def value_table(self, states: Points) -> FloatArray:
        """V at every step and state (H, q), shifted to start at 0."""
        shifted = enumerate(self._all_q(states), start=self.first_step)
        return np.stack([clip_value(q.max(axis=1), self.task, step, self.sign) for step, q in shifted])

    def bonus(self, states: Points, step: int) -> FloatArray:
        """The transition and reward bonus (q, A) that Q contains at ``step``."""
        site, stage = self.site(states, step), self.stages[step - self.first_step]
        reward = self.reward_estimate(step)
        return site.bonus(stage.terms) + (reward.linear * site.sigma if reward is not None else 0.0)

    def reward_estimate(self, step: int) -> RewardEstimate | None:
        """The learned reward at ``step``, where it is a regression of its own."""
        return self.basis(step).reward

    def site(self, states: Points, step: int) -> Site:
        """States under the model of ``step``."""
        i = min(step, len(self.views) - 1)
        return self.site_of(self.views[i].grid(states), states, step)

    def with_order(self, order: IntArray, task: Task, episode: int) -> Plan:
        """The same plan with another tie-breaking order, for a later episode."""
        made = replace(self, order=np.broadcast_to(order, self.order.shape), task=task, episode=episode)
        made._sites.update(self._sites)
        made._q.update(self._q)
        return made

    def _q_again(self, states: Points, step: int, *, most: int = 10_000) -> FloatArray:
        """Shifted Q (q, A), kept where states are finitely many: episodes come back to them.

        Args:
            states: the states.
            step: the step.
            most: answers that are kept.
        """
        stage = self.stages[step - self.first_step]
        if self.task.states is None or not isinstance(states, np.ndarray):
            return self.site(states, step).q(stage)
        name = states.tobytes()
        if (step, name) in self._q:
            return self._q[step, name]
        view = min(step, len(self.views) - 1), name
        if view not in self._sites:
            self._sites[view] = self.site(states, step)
        q = self._sites[view].q(stage)
        if len(self._q) < most:
            self._q[step, name] = q
        return q

    def site_of(self, grid: Grid, states: Points, step: int) -> Site:
        """The site from existing model evaluations."""
        return Site(grid, states, self.task, self.basis(step), self.sign)

    @property
    def repeat(self) -> int:
        """For how many steps a backup held the action."""
        return self.stages[0].until - self.first_step

    def basis(self, step: int) -> Basis:
        """The regressions of the view of ``step`` that all steps share."""
        return self.bases[min(step, len(self.bases) - 1)]

    def _all_q(self, states: Points) -> Iterator[FloatArray]:
        """Shifted Q (q, A) step by step; the kernel is evaluated once."""
        site = None if len(self.views) > 1 or self.task.states is not None else self.site(states, self.first_step)
        for step, stage in enumerate(self.stages, start=self.first_step):
            yield self._q_again(states, step) if site is None else site.q(stage)

    def shift(self, step: int) -> float:
        """The offset of a shifted value at ``step`` to the environment's units."""
        return self.task.r_min * (self.task.problem.horizon - step)

    def best(self, q: FloatArray, step: int) -> IntArray:
        """Index of the largest of Q (q, A), ties broken in the order of ``step``."""
        order = self.order[step]
        q = q[:, order]
        tolerance = TIE * self.task.problem.horizon * self.task.problem.width
        first: IntArray = np.argmax(q >= q.max(axis=1, keepdims=True) - tolerance, axis=1)
        return np.asarray(order[first])
