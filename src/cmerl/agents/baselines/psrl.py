"""Posterior sampling: play the best policy of a model drawn from what is believed [Osband et al. 2013]."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents import storage
from cmerl.agents.baselines.tabular import TablePolicy, TabularAgent
from cmerl.agents.schema import Schema, number
from cmerl.errors import InputError

_DRAWS = 3  # branch of the tree of seeds


class PSRL(TabularAgent):
    """Posterior sampling in Discrete worlds: Dirichlet transitions, Beta rewards, one draw for each episode.

    Args:
        env: with Discrete observations and actions.
        prior_weight: how many transitions the uniform prior of next states is worth, all states together.
        options: as for every counting agent.
    """

    name: ClassVar[str] = "psrl"
    _own_options: ClassVar[dict[str, Schema]] = {"prior_weight": number(1e-300)}

    def __init__(self, env: gymnasium.Env[Any, Any], *, prior_weight: float = 1.0, **options: Any) -> None:
        super().__init__(env, **options)
        if not prior_weight > 0:
            raise InputError(f"prior_weight must be a number above 0, not {prior_weight!r}")
        self.prior_weight = float(prior_weight)

    def policy(self, explore: bool = True) -> TablePolicy:
        """The optimal policy of the next episode's draw, or of the posterior mean."""
        concentration = self.counts + self.prior_weight / self.counts.shape[2]
        wins, losses = 1.0 + self.reward_sums, 1.0 + self.visits - self.reward_sums
        if not explore:
            return self._plan(concentration / concentration.sum(axis=2, keepdims=True), wins / (wins + losses))
        rng = self._rng(_DRAWS, len(self.history))
        # Normalised gamma variables are a Dirichlet one, for all state-actions at once; tiny ones may all round to 0.
        P = np.maximum(rng.standard_gamma(concentration), np.finfo(float).tiny)
        P /= P.sum(axis=2, keepdims=True)
        return self._plan(P, rng.beta(wins, losses))

    def _state(self) -> tuple[storage.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        return tensors, {**meta, "prior_weight": self.prior_weight}

    def _restore(self, tensors: storage.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        super()._restore(tensors, meta, given)
        self.prior_weight = meta["prior_weight"]
