"""The two agents that every comparison starts with: random, and greedy without exploration."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import Agent
from cmerl.agents.cme_rl import CMERL
from cmerl.confidence import Greedy
from cmerl.errors import InputError


@dataclass(frozen=True)
class RandomPolicy:
    """Uniformly random actions, fixed for one episode: the same step always draws the same action."""

    space: gymnasium.Space[Any]
    seed: int
    episode: int
    horizon: int

    def __call__(self, obs: Any, step: int) -> Any:
        """The action drawn for ``step``; the observation does not matter."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(2, self.episode, step))
        space = copy.deepcopy(self.space)
        space.seed(int(sequence.generate_state(1)[0]))
        action = space.sample()
        return int(action) if isinstance(space, gymnasium.spaces.Discrete) else action

    def probabilities(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The law that actions are drawn from (H, S, A), for exact evaluation."""
        assert isinstance(self.space, gymnasium.spaces.Discrete)
        A = int(self.space.n)
        return np.full((self.horizon, len(observations), A), 1.0 / A)


class RandomAgent(Agent):
    """Plays uniformly random actions and learns nothing."""

    name: ClassVar[str] = "random"

    def policy(self, explore: bool = True) -> RandomPolicy:
        """The random policy of the next episode; it explores whatever is asked."""
        if self.env is None:
            raise InputError("a random agent needs its environment to draw actions: load it with env=…")
        return RandomPolicy(self.env.action_space, self.seed, len(self.history), self.horizon)


class GreedyAgent(CMERL):
    """CME-RL without any optimism: believes the data, and values what it has not seen at the smallest reward."""

    name: ClassVar[str] = "greedy"

    def __init__(self, env: gymnasium.Env[Any, Any], **options: Any) -> None:
        super().__init__(env, bonus=Greedy(), **options)
