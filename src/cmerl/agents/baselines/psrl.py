"""Posterior sampling: play the optimal policy of a sampled model [Osband et al. 2013]."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from cmerl.agents.baselines.empirical import FloatArray
from cmerl.agents.baselines.tabular import TablePolicy, TabularAgent, check_number
from cmerl.agents.saving import container
from cmerl.errors import InputError

REWARD_MODELS = ("beta", "gaussian")


class PSRL(TabularAgent):
    """Posterior sampling for finite MDPs: Dirichlet transitions, Beta or Gaussian rewards, one draw per episode.

    Args:
        env: with Discrete observations and actions.
        prior_weight: total weight of the transition prior, in transitions; may be infinite.
        prior_transitions: its mean (S, A, S), with one more state if episodes may terminate; by default uniform.
        reward_prior_weight: weight of the reward prior, in rewards; may be infinite.
        prior_reward: mean of the reward prior, one number or (S, A); by default the middle of ``reward_range``.
        reward_model: "beta", or "gaussian", which takes rewards outside ``reward_range`` too.
        reward_sd: standard deviation of a reward, for the Gaussian; by default half the width of ``reward_range``.
        options: options of every tabular agent.
    """

    name: ClassVar[str] = "psrl"
    saved: ClassVar[tuple[str, ...]] = ("prior_weight", "reward_prior_weight", "reward_model", "reward_sd")
    saved_arrays: ClassVar[tuple[str, ...]] = ("prior_transitions", "prior_reward")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        prior_weight: float = 1.0,
        prior_transitions: ArrayLike | None = None,
        reward_prior_weight: float = 2.0,
        prior_reward: ArrayLike | None = None,
        reward_model: Literal["beta", "gaussian"] = "beta",
        reward_sd: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        lo, hi = self.reward_range
        if reward_model not in REWARD_MODELS:
            raise InputError(f"reward_model must be one of {', '.join(REWARD_MODELS)}, not {reward_model!r}")
        self.reward_model = reward_model
        self.prior_weight = check_number("prior_weight", prior_weight, above=True, finite=False)
        self.reward_prior_weight = check_number("reward_prior_weight", reward_prior_weight, above=True, finite=False)
        sd = (hi - lo) / 2 if reward_sd is None else check_number("reward_sd", reward_sd)
        self.reward_sd = sd
        self.prior_transitions: FloatArray = _laws(prior_transitions, self.counts.shape)
        mean = (lo + hi) / 2 if prior_reward is None else prior_reward
        self.prior_reward: FloatArray = _means(mean, self.reward_sums.shape)
        if reward_model == "beta" and not ((self.prior_reward > lo) & (self.prior_reward < hi)).all():
            raise InputError(
                f"prior_reward must lie strictly inside reward_range {self.reward_range} for a Beta prior"
            )

    def _table(self, explore: bool) -> TablePolicy:
        rng = self._rng(3, len(self.history)) if explore else None
        P, R = self.draw_transitions(rng), self.draw_rewards(rng)
        shape = R.shape
        laws = P.reshape(-1, P.shape[2])
        return self._greedy(self._induct(lambda step, V: R + (laws @ V).reshape(shape), clip=False))

    def draw_transitions(self, rng: np.random.Generator | None) -> FloatArray:
        """Laws (S, A, S') drawn from the posterior, or its mean."""
        if np.isinf(self.prior_weight):
            return self.prior_transitions
        concentration = self.counts + self.prior_weight * self.prior_transitions
        if rng is None:
            return np.asarray(concentration / concentration.sum(axis=2, keepdims=True))
        # Normalised gamma variables are a Dirichlet one, for all state-actions at once; tiny ones may all round to 0.
        P: FloatArray = rng.standard_gamma(concentration)
        P = np.where(concentration > 0, np.maximum(P, np.finfo(float).tiny), 0.0)
        P /= P.sum(axis=2, keepdims=True)
        return P

    def draw_rewards(self, rng: np.random.Generator | None) -> FloatArray:
        """Mean rewards (S, A), scaled, drawn from the posterior, or its mean."""
        lo, hi = self.reward_range
        prior, weight = (self.prior_reward - lo) / (hi - lo), self.reward_prior_weight
        if np.isinf(weight):
            return prior
        n = self.visits
        mean: FloatArray = (weight * prior + self.reward_sums) / (weight + n)
        if rng is None:
            return mean
        if self.reward_model == "gaussian":
            return np.asarray(rng.normal(mean, self.reward_sd / (hi - lo) / np.sqrt(weight + n)))
        wins, losses = weight * prior + self.reward_sums, weight * (1 - prior) + n - self.reward_sums
        return np.asarray(rng.beta(wins, np.maximum(losses, np.finfo(float).tiny)))

    @classmethod
    def _check_saved(cls, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        weights = ("prior_weight", "reward_prior_weight")  # these may be infinite, and nothing else
        super()._check_saved(tensors, {k: v for k, v in meta.items() if k not in weights or v != math.inf})

    def _reward_claim(self) -> tuple[tuple[float, float] | None, FloatArray | None]:
        # Gaussian rewards may leave any range, and nothing is certified of them.
        return (self.reward_range, None) if self.reward_model == "beta" else (None, None)

    def _check_reward(self, reward: float) -> None:
        if self.reward_model == "beta":
            super()._check_reward(reward)


def _laws(given: ArrayLike | None, shape: tuple[int, ...]) -> FloatArray:
    """Prior laws of next states as an array."""
    if given is None:
        return np.full(shape, 1.0 / shape[2])
    laws = np.asarray(given, dtype=np.float64)
    if laws.shape != shape or not ((laws >= 0).all() and np.allclose(laws.sum(axis=2), 1.0)):
        raise InputError(f"prior_transitions must be distributions of shape {shape}, one for each state and action")
    return laws


def _means(given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Prior mean rewards as an array."""
    try:
        found = np.broadcast_to(np.asarray(given, dtype=np.float64), shape).copy()
    except (TypeError, ValueError):
        found = np.full(shape, np.nan)
    if not np.isfinite(found).all():
        raise InputError(f"prior_reward must be a number, or numbers of shape {shape}, not {given!r}")
    return found
