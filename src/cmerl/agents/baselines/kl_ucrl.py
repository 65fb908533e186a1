"""Optimism over a Kullback–Leibler ball of models: KL-UCRL for episodes of fixed length [Filippi et al. 2010]."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cmerl.agents.baselines.empirical import EmpiricalModel, FloatArray
from cmerl.agents.baselines.kl_ball import largest_mean
from cmerl.agents.baselines.ucrl2 import UCRL2


class KLUCRL(UCRL2):
    """KL-UCRL over a finite horizon: as ``ucrl2``, with Kullback–Leibler balls around the empirical distributions.

    With ``theory`` the radii are C_P/n for transitions and C_R/√n for rewards, with B = log(2eS²A·log(T)/δ), C_P =
    S·(B + log(B + 1/log T)·(1 + 1/(B + 1/log T))) and C_R = √(log(4SA·log(T)/δ)/1.99). Else they are scale/n and
    scale·√(1/n). The scale multiplies both.

    Args:
        env: with Discrete observations and actions.
        options: options of every optimistic agent.
    """

    name: ClassVar[str] = "kl-ucrl"
    practical_scale: ClassVar[float] = 0.1
    fixed_options: ClassVar[tuple[str, ...]] = ()

    def radii(self, visits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Radii of the balls around transition distributions and mean rewards (S, A), including the scale."""
        n, (S, A, T) = np.maximum(visits, 1.0), self._sizes
        if not self.theory:
            return self.bonus_scale / n, self.bonus_scale * np.sqrt(1 / n)
        log_T = np.log(max(T, 3))
        B = np.log(2 * np.e * S**2 * A * log_T / self.delta)
        C_P = S * (B + np.log(B + 1 / log_T) * (1 + 1 / (B + 1 / log_T)))
        C_R = np.sqrt(np.log(4 * S * A * log_T / self.delta) / 1.99)
        return self.bonus_scale * C_P / n, self.bonus_scale * C_R / np.sqrt(n)

    def _mean(self, model: EmpiricalModel, V: FloatArray, radius: FloatArray) -> FloatArray:
        return largest_mean(model.p, V[model.outcomes], float(V.max()), radius)
