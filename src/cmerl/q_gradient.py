"""What refinement climbs: how good actions between the candidates are, and in which direction they get better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.actions import slope_by_differences
from cmerl.embedding import ContinuousView, Grid, SmoothView
from cmerl.planning import Plan, RewardEstimate, Site, Stage

FloatArray = NDArray[np.float64]

KNOWN = 0.8  # 1 − u from which on a displacement is trusted: about one visit


@dataclass(frozen=True, eq=False)
class Hill:
    """A plan at one state and step, for actions that it does not range over.

    For a direct embedding the hill is Q. For a displacement it is Q without hope, r + V(s'), and −∞ where too little
    is known: all of the space between candidates is a little unknown, and to climb what is hoped for would be to
    explore it at every step. That is up to the candidates.

    Attributes:
        plan: the plan.
        state: one encoded state (1, d).
        step: the step.
    """

    plan: Plan
    state: FloatArray
    step: int

    def __call__(self, actions: FloatArray) -> FloatArray:
        """The height (k,) at actions (k, d_a), up to a constant."""
        grid = self._grid(actions)
        if isinstance(self._view, SmoothView):
            return np.asarray(self._site(grid).q(self._stage)[0])
        height, known = self._settled(grid)
        return np.where(known >= KNOWN, height, -np.inf)

    def slope(self, action: FloatArray) -> FloatArray:
        """The gradient (d_a,) at one action (d_a,): by that of the kernel, or by differences for a displacement."""
        if not isinstance(self._view, SmoothView):
            return slope_by_differences(lambda actions: self._settled(self._grid(actions))[0], action)
        z = np.hstack([self.state[0], action])
        slope = self._view.mean_slope(self._stage.coef, z)
        if self._reward is None and not any(self._stage.terms):
            return slope
        return slope + self._bonus_slope(self._view, self._site(self._grid(action[None])), z)

    def _settled(self, grid: Grid) -> tuple[FloatArray, FloatArray]:
        """A displacement's Q without hope (k,): what it expects, undone of its shrinking by 1 − u; and 1 − u (k,)."""
        known = 1.0 - np.square(grid.std()[0])
        return grid.expectation(self._stage.coef)[0] / np.maximum(known, KNOWN), known

    def _bonus_slope(self, view: SmoothView, site: Site, z: FloatArray) -> FloatArray:
        """How the bonus and the reward with its own bonus change (d_a,).

        ‖α‖₁ has kinks and is left out; bonuses in σ² are for finitely many actions.
        """
        reward, sigma = self._reward, float(site.sigma[0, 0])
        by_sigma = self.plan.sign * view.variance_slope(z) / max(2.0 * sigma, 1e-12)
        slope = self._stage.terms.linear * by_sigma
        if reward is not None and 0.0 < float(np.ravel(site.reward)[0]) < reward.width:  # not clipped
            slope = slope + view.mean_slope(reward.coef, z) + reward.linear * by_sigma
        return slope

    def _grid(self, actions: FloatArray) -> Grid:
        there = self._view.with_actions(actions)
        assert there is not None  # or nothing is refined
        return there.grid(self.state)

    def _site(self, grid: Grid) -> Site:
        return Site(grid, self.state, self.plan.task, self._reward, self.plan.sign)

    @property
    def _which(self) -> int:
        return min(self.step, len(self.plan.views) - 1)

    @property
    def _view(self) -> ContinuousView:
        view = self.plan.views[self._which]
        assert isinstance(view, ContinuousView)
        return view

    @property
    def _stage(self) -> Stage:
        return self.plan.stages[self.step - self.plan.first_step]

    @property
    def _reward(self) -> RewardEstimate | None:
        return self.plan.rewards[self._which]
