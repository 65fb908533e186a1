"""Refinement of continuous actions: gradient ascent on Q from the best candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.acting.base import EpisodeActor
from cmerl.acting.budgeted import BudgetedActor, ExplorationBudget
from cmerl.embedding import Grid, SmoothView
from cmerl.finite import TablePlan
from cmerl.planning import Plan, Site, Stage
from cmerl.searching.ascent import refine

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Refined:
    """The best of the candidates, improved by projected gradient ascent.

    Args:
        rounds: gradients that are followed.
        lengths: of the steps that are tried along each, the longest about half the distance between candidates.
    """

    rounds: int = 3
    lengths: tuple[float, ...] = tuple(0.5**k for k in range(2, 10))

    def begin_episode(
        self,
        plan: Plan | TablePlan,
        actions: FloatArray,
        seed: Sequence[int],
        exploration: ExplorationBudget | None = None,
    ) -> EpisodeActor:
        """Nothing is drawn and nothing remembered."""
        assert isinstance(plan, Plan)  # tables are for finite worlds
        actor = RefinedActor(self, plan, actions)
        return actor if exploration is None else BudgetedActor(actor, plan, actions, exploration)

    def suits(self, plan: Plan | TablePlan, actions: FloatArray) -> bool:
        """Whether actions between the candidates can be compared.

        With a displacement a search finds them; a known reward is known for the candidates only.
        """
        view = plan.views[0]
        if plan.task.known_reward is not None or not isinstance(view, SmoothView):
            return False
        return view.with_actions(actions[:1]) is not None


@dataclass(frozen=True, eq=False)
class RefinedActor:
    """Acts on one plan."""

    settings: Refined
    plan: Plan
    actions: FloatArray

    def act(self, state: FloatArray, step: int, deadline: float | None = None) -> FloatArray:
        """The best candidate (d_a,), or a better action near it if there is time to look for one."""
        start = self.actions[self.plan.act(state, step)[0]]
        surface = QSurface(self.plan, state, step)
        return refine(surface, surface.slope, start, self.settings.rounds, self.settings.lengths, deadline)


@dataclass(frozen=True, eq=False)
class QSurface:
    """Q of a plan at one state and step, for actions that it does not range over.

    Attributes:
        plan: the plan.
        state: one encoded state (1, d).
        step: the step.
    """

    plan: Plan
    state: FloatArray
    step: int

    def __call__(self, actions: FloatArray) -> FloatArray:
        """Q (k,) at actions (k, d_a), up to a constant."""
        return np.asarray(self._site(self._grid(actions)).q(self._stage)[0])

    def slope(self, action: FloatArray) -> FloatArray:
        """The gradient of Q (d_a,) at one action (d_a,), by that of the kernel."""
        z, stage, basis = np.hstack([self.state[0], action]), self._stage, self.plan.basis(self.step)
        slope, by_mass = self._view.mean_slope(stage.coef, z), stage.shift - stage.ceiling
        if basis.reward is not None or any(stage.terms):
            site, reward = self._site(self._grid(action[None])), basis.reward
            by_sigma = stage.terms.linear  # ‖α‖₁ has kinks and is left out; bonuses in σ² are for finite action sets
            if reward is not None and 0.0 < float(site.reward[0, 0]) < reward.width:  # not clipped
                slope = slope + self._view.mean_slope(reward.coef, z)
                by_sigma, by_mass = by_sigma + reward.linear, by_mass - self.plan.task.r_min
            sigma = max(float(site.sigma[0, 0]), 1e-12)
            slope = slope + self.plan.sign * by_sigma * self._view.variance_slope(z) / (2.0 * sigma)
        return slope + by_mass * self._view.mean_slope(basis.one, z) if by_mass else slope

    def _grid(self, actions: FloatArray) -> Grid:
        there = self._view.with_actions(actions)
        assert there is not None  # or nothing is refined
        return there.grid(self.state)

    def _site(self, grid: Grid) -> Site:
        return self.plan.site_of(grid, self.state, self.step)

    @property
    def _view(self) -> SmoothView:
        view = self.plan.views[min(self.step, len(self.plan.views) - 1)]
        assert isinstance(view, SmoothView)
        return view

    @property
    def _stage(self) -> Stage:
        return self.plan.stages[self.step - self.plan.first_step]
