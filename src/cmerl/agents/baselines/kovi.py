"""KOVI: kernel optimistic least-squares value iteration.

Reference: Z. Yang, C. Jin, Z. Wang, M. Wang, M. I. Jordan, "On function approximation in reinforcement learning:
optimism in the face of large state spaces", NeurIPS 2020, Algorithm 2.

Constants: Q_h = clip(α(z)ᵀ(r + V_{h+1}) + βλ^{-1/2}σ_h(z), 0, H − h + 1), a kernel ridge regression for each step.
With ``theory`` λ = 1 and β = C·γ·H·√log(γTH/δ), the paper's form for kernels of γ features with its absolute constant
C = 1; in place of γ stands twice the information gain of the data, which is what the paper calls the effective
dimension. Else λ = 0.01 and β = ``width``·(H − step).

Differences: λ = 1 where the paper has 1 + 1/T, and T is the episodes begun, so that no number of episodes need be
given. The reward is part of the regressed targets, as the paper's proof allows. Without ``theory`` all steps share
their data.
"""

from __future__ import annotations

import math
from typing import ClassVar

from cmerl.agents.base import Policy
from cmerl.agents.baselines.kernel_agent import KernelAgent


def kovi_radius(information_gain: float, *, horizon: int, episodes: int, delta: float) -> float:
    """β = γ·H·√log(γTH/δ) [Yang et al. 2020, Cor. 4.4], γ the effective dimension 2G, at least 1."""
    size = max(1.0, 2.0 * information_gain)
    return size * horizon * math.sqrt(math.log(size * max(episodes, 1) * horizon / delta))


class KOVI(KernelAgent):
    """Optimistic value iteration with kernel ridge regression [Yang et al. 2020]."""

    name: ClassVar[str] = "kovi"

    def _radius(self, step: int) -> float:
        """β at ``step``, with its scale."""
        if not self.theory:
            return self.bonus_scale * self.width * (self.horizon - step)
        episodes = len(self.log) + 1
        beta = kovi_radius(self.information_gain, horizon=self.horizon, episodes=episodes, delta=self.delta)
        return self.bonus_scale * beta

    def _make_policy(self, explore: bool) -> Policy:
        radius = [self._radius(step) if explore else 0.0 for step in range(self.horizon)]
        return self._step_policy(self._upper_plan(radius))
