"""The two agents that every comparison starts with: random, and greedy without exploration."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium

from cmerl.agents.base import Agent
from cmerl.agents.cme_rl import CMERL
from cmerl.agents.policies import RandomPolicy
from cmerl.confidence import Greedy
from cmerl.errors import InputError


class RandomAgent(Agent):
    """Plays uniformly random actions and learns nothing."""

    name: ClassVar[str] = "random"

    def policy(self, explore: bool = True) -> RandomPolicy:
        """The random policy of the next episode; it explores whatever is asked."""
        if self.env is None:
            raise InputError("a random agent needs its environment to draw actions: load it with env=…")
        return RandomPolicy(self.env.action_space, self.seed, len(self.history), self.horizon)

    def lesson(self) -> dict[str, Any]:
        """Nothing: this agent does not learn."""
        return {}

    def _relearn(self, lesson: dict[str, Any]) -> None:
        pass


class GreedyAgent(CMERL):
    """CME-RL without any optimism: believes the data, and values what it has not seen at the smallest reward."""

    name: ClassVar[str] = "greedy"
    fixed_options: ClassVar[tuple[str, ...]] = ("bonus",)

    def __init__(self, env: gymnasium.Env[Any, Any], **options: Any) -> None:
        super().__init__(env, bonus=Greedy(), **options)
