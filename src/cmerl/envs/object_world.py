"""Deterministic environments whose states are objects: enumerated once, so that the optimum is exact."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.oracles import TableModel
from cmerl.validation.episodes import check_options
from cmerl.validation.numbers import check_count, check_index

Move = Callable[[Any, int], tuple[Any, float]]
"""The next state and the reward of an action in a state."""


def enumerate_world(start: Hashable, actions: int, move: Move, observe: Callable[[Any], Any]) -> TableModel:
    """All states that can be reached, breadth first, with successors and rewards."""
    states, number, successors, rewards = [start], {start: 0}, [], []
    for state in states:  # grows on the way
        outcomes = [move(state, a) for a in range(actions)]
        for after, _ in outcomes:
            if number.setdefault(after, len(states)) == len(states):
                states.append(after)
        successors.append([number[after] for after, _ in outcomes])
        rewards.append([reward for _, reward in outcomes])
    observations = np.empty(len(states), dtype=object)
    for s, state in enumerate(states):
        observations[s] = observe(state)
    return TableModel(np.array(successors), np.array(rewards, dtype=np.float64), 0, observations)


class ObjectWorld(gymnasium.Env[Any, Any]):
    """A deterministic environment of objects. It neither terminates nor truncates: episodes end at the horizon.

    Args:
        model: all states, their successors and rewards.
        space: of the observations.
        horizon: the episode length that this environment suggests.

    Attributes:
        model: as given; this is where the oracle looks.
        horizon: as given.
        state: number of the current state, −1 before the first reset.
    """

    def __init__(self, model: TableModel, space: spaces.Space[Any], horizon: int) -> None:
        self.model, self.horizon, self.state = model, check_count("horizon", horizon), -1
        self.observation_space = space
        self.action_space = spaces.Discrete(model.R.shape[1])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, in the first state or in ``options["state"]``, a number or an observation."""
        super().reset(seed=seed)
        wanted = check_options(options).get("state", self.model.start)
        if not isinstance(wanted, int | np.integer):
            wanted = self.model.index(wanted)
        self.state = check_index('options["state"]', wanted, len(self.model.R))
        return self._observe()

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action; both ending flags are always False."""
        a = check_index("the action", action, self.model.R.shape[1])
        if self.state < 0:
            raise InputError("call reset() before the first step().")
        reward = float(self.model.R[self.state, a])
        self.state = int(self.model.successors[self.state, a])
        observation, info = self._observe()
        return observation, reward, False, False, info

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        # A copy, because callers keep what they are given.
        return copy.deepcopy(self.model.observations[self.state]), {"state": self.state}
