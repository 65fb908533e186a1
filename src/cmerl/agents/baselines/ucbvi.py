"""Optimism by counts: value iteration with a bonus for what was seen rarely [Azar et al. 2017]."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents import storage
from cmerl.agents.baselines.tabular import FloatArray, TablePolicy, TabularAgent
from cmerl.agents.schema import Schema, number
from cmerl.errors import InputError


class UCBVI(TabularAgent):
    """Optimistic value iteration in Discrete worlds, with bonus scale·(√(1/n) + (H − h)/n) for n visits.

    Counts do not depend on the step, while the bonus of step h does and is made anew at each. It is that of the
    proof without its logarithms and variances, so it is a heuristic at every scale.

    Args:
        env: with Discrete observations and actions.
        bonus_scale: factor of the bonus.
        options: as for every counting agent.
    """

    name: ClassVar[str] = "ucbvi"
    _own_options: ClassVar[dict[str, Schema]] = {"bonus_scale": number(0.0)}

    def __init__(self, env: gymnasium.Env[Any, Any], *, bonus_scale: float = 1.0, **options: Any) -> None:
        super().__init__(env, **options)
        if not bonus_scale >= 0:
            raise InputError(f"bonus_scale must be a number from 0 on, not {bonus_scale!r}")
        self.bonus_scale = float(bonus_scale)

    def policy(self, explore: bool = True) -> TablePolicy:
        """The optimistic plan, or the empirical model's."""
        P, R = self._means()
        if not explore:
            return self._plan(P, R)
        seen, n = self.visits > 0, np.maximum(self.visits, 1)

        def bonus(step: int) -> FloatArray:
            left = self.horizon - step
            return np.where(seen, self.bonus_scale * (np.sqrt(1 / n) + left / n), left)

        return self._plan(P, R, bonus)

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        return tensors, {**meta, "bonus_scale": self.bonus_scale}

    def _restore(self, tensors: storage.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        super()._restore(tensors, meta, given)
        self.bonus_scale = meta["bonus_scale"]
