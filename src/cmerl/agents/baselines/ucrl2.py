"""Optimism over an L1 ball of models: UCRL2 for episodes of fixed length [Jaksch et al. 2010]."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cmerl.agents.baselines.empirical import EmpiricalModel, FloatArray
from cmerl.agents.baselines.l1_ball import largest_mean
from cmerl.agents.baselines.optimistic import OptimisticAgent
from cmerl.agents.baselines.tabular import TablePolicy


class UCRL2(OptimisticAgent):
    """UCRL2 over a finite horizon: the best policy of the best model in L1 balls around the empirical model.

    With ``theory`` the radii are √(14S·log(2At/δ)/n) for transitions and √(7·log(2SAt/δ)/2n) for rewards, t the steps
    so far. Else they are scale·√(S/n) and scale·√(1/n). The scale multiplies radii.

    Args:
        env: with Discrete observations and actions.
        options: options of every optimistic agent.
    """

    name: ClassVar[str] = "ucrl2"
    practical_scale: ClassVar[float] = 0.1
    fixed_options: ClassVar[tuple[str, ...]] = ("episodes",)

    def radii(self, visits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Radii of the balls around transition distributions and mean rewards (S, A), including the scale."""
        n, (S, A, _) = np.maximum(visits, 1.0), self._sizes
        if not self.theory:
            return self.bonus_scale * np.sqrt(S / n), self.bonus_scale * np.sqrt(1 / n)
        t = max(float(visits.sum()), 1.0)
        laws = np.sqrt(14 * S * np.log(2 * A * t / self.delta) / n)
        rewards = np.sqrt(7 * np.log(2 * S * A * t / self.delta) / (2 * n))
        return self.bonus_scale * laws, self.bonus_scale * rewards

    def _mean(self, model: EmpiricalModel, V: FloatArray, radius: FloatArray) -> FloatArray:
        return largest_mean(model.p, V[model.outcomes], float(V.max()), radius)

    def _optimistic(self) -> TablePolicy:
        model = self._empirical()
        laws, rewards = self.radii(model.visits)
        # Rewards are at most 1, and where nothing was seen everything is possible.
        R = np.where(model.visits > 0, np.minimum(model.rewards + rewards, 1.0), 1.0)
        return self._greedy(self._induct(lambda step, V: R + self._mean(model, V, laws)))
