"""A plan: Q, V and the best action at every state and step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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
    """A deterministic function of (state, step), valid whatever is learned after it was made.

    Attributes:
        task: what was planned for.
        views: the embedding as it was, one, or one a step.
        bases: what each view has regressed once for all steps.
        stages: one a step, from ``first_step`` on.
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
    _visited: dict[tuple[int, bytes], Site] = field(init=False, repr=False, compare=False, default_factory=dict)

    def q(self, states: Points, step: int) -> FloatArray:
        """Q (q, A) at ``step`` in the environment's units, unclipped."""
        return self.site(states, step).q(self.stages[step - self.first_step]) + self.shift(step)

    def value(self, states: Points, step: int) -> FloatArray:
        """V (q,) at ``step`` in the environment's units."""
        q = self.site(states, step).q(self.stages[step - self.first_step])
        return clip_value(q.max(axis=1), self.task, step, self.sign) + self.shift(step)

    def act(self, states: Points, step: int) -> IntArray:
        """Index of the best action (q,) at ``step``."""
        return self.best(self._site_again(states, step).q(self.stages[step - self.first_step]), step)

    def act_on(self, grid: Grid, states: Points, step: int) -> IntArray:
        """The same where one view was already asked, for states of several plans at once."""
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

    def _site_again(self, states: Points, step: int) -> Site:
        """The same, kept where states are finitely many: an episode comes back to them."""
        if self.task.states is None or not isinstance(states, np.ndarray) or len(states) != 1:
            return self.site(states, step)
        key = min(step, len(self.views) - 1), states.tobytes()
        if key not in self._visited:
            self._visited[key] = self.site(states, step)
        return self._visited[key]

    def site_of(self, grid: Grid, states: Points, step: int) -> Site:
        """The same where the model was already asked."""
        return Site(grid, states, self.task, self.basis(step), self.sign)

    @property
    def repeat(self) -> int:
        """For how many steps a backup held the action."""
        return self.stages[0].until - self.first_step

    def basis(self, step: int) -> Basis:
        """What the view of ``step`` has regressed once for all steps."""
        return self.bases[min(step, len(self.bases) - 1)]

    def _all_q(self, states: Points) -> Iterator[FloatArray]:
        """Shifted Q (q, A) step by step; the kernel is evaluated once."""
        site = self.site(states, self.first_step)
        for step, stage in enumerate(self.stages, start=self.first_step):
            if len(self.views) > 1:
                site = self.site(states, step)
            yield site.q(stage)

    def shift(self, step: int) -> float:
        """What a shifted value at ``step`` lacks in the environment's units."""
        return self.task.r_min * self.task.worth(self.task.problem.horizon - step)

    def best(self, q: FloatArray, step: int) -> IntArray:
        """Index of the largest of Q (q, A), ties broken in the order of ``step``."""
        order = self.order[step]
        q = q[:, order]
        tolerance = TIE * self.task.problem.horizon * self.task.problem.width
        first: IntArray = np.argmax(q >= q.max(axis=1, keepdims=True) - tolerance, axis=1)
        return np.asarray(order[first])
