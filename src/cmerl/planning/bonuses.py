"""The bonus of every step of a backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from cmerl.confidence import BonusTerms, NearNorms, NormCalculator, ValueNorms
from cmerl.embedding import Model, is_kernel_embedding
from cmerl.planning.site import Basis, Site, Stage
from cmerl.planning.task import Task, clip_value


class Bonuses:
    """The bonus of every step, with norms of V_{h+1} carried backwards along the pass where the mode wants them.

    Where the states are not finitely many, the support stands in for them: the norms are then lower bounds.
    """

    def __init__(
        self, models: Sequence[Model], task: Task, bases: Sequence[Basis], episode: int, sign: float
    ) -> None:
        self._task, self._episode, self._sign = task, episode, sign
        self._norms: ValueNorms | None = None
        self._calculate: NormCalculator | NearNorms | None = None
        if not task.mode.needs_norms:
            return
        self._norms = ValueNorms(0.0, 0.0)
        states = models[-1].support if task.states is None else task.states
        if len(states):
            kernel, near = task.problem.value_kernel, task.mode.near
            self._calculate = NearNorms(kernel, states, near) if near else NormCalculator(kernel, states)
            pairs = zip(models, bases, strict=True)
            self._sites = [Site(model.grid(states), states, task, basis, sign) for model, basis in pairs]

    def at(self, model: Model, step: int, span: int) -> tuple[BonusTerms, BonusTerms]:
        """The bonus at ``step``, and the most by which Q may exceed what it estimates."""
        task, mode, terms, excess = self._task, self._task.mode, BonusTerms(), BonusTerms()
        if not mode.uses_sigma and not task.with_excess:
            return terms, excess
        assert is_kernel_embedding(model)
        left = task.problem.horizon - span - step
        episode, norms = self._episode, self._norms
        if left > 0 or mode.literal_algorithm1 or (mode.rewards_too and task.known_reward is None):
            terms = mode.bonus(task.problem, model, episode=episode, step=step, norms=norms)
        if task.with_excess and (left > 0 or mode.literal_algorithm1 or not mode.provable):
            excess = mode.excess(task.problem, model, episode=episode, step=step, norms=norms)
        return terms, excess

    def advance(self, stage: Stage, step: int) -> None:
        """From the norms of V_{h+1} to those of V_h."""
        if self._calculate is not None:
            site = self._sites[min(step, len(self._sites) - 1)]
            v = clip_value(site.q(stage).max(axis=1), self._task, step, self._sign)
            problem = self._task.problem
            terminal = -self._task.r_min * (problem.horizon - step) if problem.terminations else None
            self._norms = self._calculate(v, terminal)
