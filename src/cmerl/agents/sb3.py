"""Agents with the ``predict`` interface of Stable-Baselines3."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.base import Agent, Policy, begin

States = tuple["Place", ...]


class Place(NamedTuple):
    """Where one environment is: the policy on its way through an episode, and the next step."""

    play: Policy
    step: int


class StableBaselinesPolicy:
    """An agent's plan, with the ``predict`` of Stable-Baselines3: its ``evaluate_policy`` takes it as a model.

    The state that ``predict`` returns holds the step and the search, so a search continues from step to step.

    >>> import gymnasium, cmerl
    >>> from cmerl.agents.sb3 import StableBaselinesPolicy
    >>> agent = cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0).learn(20)
    >>> model = StableBaselinesPolicy(agent)
    >>> action, state = model.predict(0)
    >>> action, state = model.predict(1, state)

    Args:
        agent: whose plan is followed, as it is now.
        explore: whether to explore; by default the plan is without bonus or prior optimism.
    """

    def __init__(self, agent: Agent, explore: bool = False) -> None:
        self.policy, self.horizon = agent.policy(explore), agent.horizon

    def predict(
        self,
        observation: Any,
        state: States | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Any, States]:
        """The action, and what to give back as ``state`` at the next step.

        Args:
            observation: one observation; of several environments, stacked, where ``episode_start`` is given.
            state: what was returned at the step before; None at the first.
            episode_start: which environments have just begun an episode (n,).
            deterministic: accepted and not used, as a plan draws nothing.
        """
        if episode_start is None:
            place = self._begin() if state is None else state[0]
            action, place = self._act(observation, place)
            return action, (place,)
        starts = np.atleast_1d(np.asarray(episode_start, dtype=bool))
        before: tuple[Place | None, ...] = (None,) * len(starts) if state is None else state
        found = [
            self._act(_one(observation, i), self._begin() if place is None or starts[i] else place)
            for i, place in enumerate(before)
        ]
        return np.array([action for action, _ in found]), tuple(place for _, place in found)

    def _begin(self) -> Place:
        return Place(begin(self.policy), 0)

    def _act(self, obs: Any, place: Place) -> tuple[Any, Place]:
        step = min(place.step, self.horizon - 1)  # an environment without a time limit goes on beyond the horizon
        return place.play(obs, step), Place(place.play, place.step + 1)


def _one(observations: Any, i: int) -> Any:
    """The observation of one environment out of a stack."""
    if isinstance(observations, dict):
        return {key: _one(part, i) for key, part in observations.items()}
    if isinstance(observations, tuple):
        return tuple(_one(part, i) for part in observations)
    return observations[i]
