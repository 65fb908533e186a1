"""Two controls: random, and greedy without exploration."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import Agent
from cmerl.agents.cme_rl import CMERL
from cmerl.agents.policies import RandomPolicy
from cmerl.agents.saving import container
from cmerl.confidence import Greedy
from cmerl.confidence.kl import CountingBudget
from cmerl.errors import InputError
from cmerl.rewards import check_range


class RandomAgent(Agent):
    """Plays uniformly random actions and does not learn.

    Args:
        env: a Gymnasium environment.
        horizon: steps per episode; defaults to the environment's own.
        seed: root of all randomness.
        reward_range: (lo, hi) of all rewards, for the certificate; None if it is not known.
        delta: failure probability of the certificate.
    """

    name: ClassVar[str] = "random"

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        seed: int = 0,
        reward_range: tuple[float, float] | None = None,
        delta: float = 0.1,
    ) -> None:
        super().__init__(env, horizon=horizon, seed=seed)
        self.reward_range = None if reward_range is None else check_range(reward_range)
        self.delta = CountingBudget(float(delta), learned_reward=True).delta

    def _reward_claim(self) -> tuple[tuple[float, float] | None, NDArray[np.float64] | None]:
        return self.reward_range, None

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        return {}, {"reward_range": self.reward_range, "delta": self.delta}

    def _restore(self, tensors: container.Tensors, meta: dict[str, Any], given: dict[str, Any]) -> None:
        claimed = meta.get("reward_range")
        self.reward_range = None if claimed is None else (claimed[0], claimed[1])
        self.delta = meta.get("delta", 0.1)

    def policy(self, explore: bool = True) -> RandomPolicy:
        """The random policy of the next episode; ``explore`` has no effect."""
        if self.env is None:
            raise InputError("a random agent needs its environment to draw actions: load it with env=…")
        return RandomPolicy(self.env.action_space, self.seed, len(self.history), self.horizon)

    def diagnostics(self) -> dict[str, Any]:
        """An empty dictionary."""
        return {}

    def _relearn(self, lesson: dict[str, Any]) -> None:
        pass


class GreedyAgent(CMERL):
    """CME-RL without optimism: unseen state-actions are worth the smallest reward."""

    name: ClassVar[str] = "greedy"
    fixed_options: ClassVar[tuple[str, ...]] = ("bonus",)

    def __init__(self, env: gymnasium.Env[Any, Any], **options: Any) -> None:
        super().__init__(env, bonus=Greedy(), **options)
