"""The base of count-based optimistic agents: one scale for every bonus, the paper's constants on request."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.baselines.tabular import TablePolicy, TabularAgent, check_number
from cmerl.errors import InputError


class OptimisticAgent(TabularAgent):
    """An agent that plans with upper bounds on what it does not know.

    Args:
        env: with Discrete observations and actions.
        bonus_scale: factor of every bonus term; by default 1 with ``theory``, else what did best on random MDPs.
        theory: take the constants and logarithms of the paper; they explore far too long to be of use.
        episodes: how many the paper's logarithms shall hold for, with ``theory``.
        options: options of every tabular agent.
    """

    practical_scale: ClassVar[float] = 1.0
    saved: ClassVar[tuple[str, ...]] = ("bonus_scale", "theory", "episodes")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        bonus_scale: float | None = None,
        theory: bool = False,
        episodes: int = 1000,
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        if theory not in (True, False):
            raise InputError(f"theory must be True or False, not {theory!r}")
        if bonus_scale is None:
            bonus_scale = 1.0 if theory else self.practical_scale
        self.bonus_scale = check_number("bonus_scale", bonus_scale)
        self.theory = bool(theory)
        if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or episodes < 1:
            raise InputError(f"episodes must be a whole number of at least 1, not {episodes!r}")
        self.episodes = int(episodes)

    def _table(self, explore: bool) -> TablePolicy:
        return self._optimistic() if explore else self._certain()

    def _optimistic(self) -> TablePolicy:
        """The plan that explores."""
        raise NotImplementedError

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """S, A and T = K·H, with the end of an episode as one more state where there is one."""
        return self.counts.shape[2], self.counts.shape[1], self.episodes * self.horizon

    def log_factor(self, factor: float = 1.0) -> float:
        """log(factor·S·A·T/δ)."""
        S, A, T = self._sizes
        return float(np.log(factor * S * A * T / self.delta))
