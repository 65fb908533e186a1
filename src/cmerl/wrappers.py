"""Wrappers that change the horizon, reward, actions or observations of an environment.

All options except the predicate of ``GoalReward`` are plain values, so a spec can set them.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from cmerl.errors import InputError

Env = gymnasium.Env[Any, Any]
Step = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]

MOST_ACTIONS = 1000


class Horizon(gymnasium.wrappers.TimeLimit):
    """Replaces the environment's time limit by ``steps`` steps.

    Args:
        env: the environment; its time limits are removed.
        steps: steps per episode.
    """

    def __init__(self, env: Env, steps: int) -> None:
        while isinstance(env, gymnasium.wrappers.TimeLimit):
            env = env.env
        super().__init__(env, max_episode_steps=_whole("steps", steps))


class GoalReward(gymnasium.RewardWrapper[Any, Any]):
    """Pays only at the goal, which terminates the episode.

    Args:
        env: the environment.
        goal: a predicate of observations; by default the goal is where the environment terminates.
        above: without a predicate, a termination counts as the goal only if its reward exceeds this; for environments
            that also terminate in failure.
        reward: reward of the goal.
    """

    def __init__(
        self,
        env: Env,
        goal: Callable[[Any], bool] | None = None,
        above: float | None = None,
        reward: float = 1.0,
    ) -> None:
        super().__init__(env)
        if goal is not None and not callable(goal):
            raise InputError(f"goal must be a function of observations, not {goal!r}")
        if goal is not None and above is not None:
            raise InputError("pass goal or above, not both: a predicate already defines the goal")
        self.goal, self.above, self.worth = goal, above, float(reward)

    def step(self, action: Any) -> Step:
        """One step; the reward is 0 except at the goal."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.goal is not None:
            reached = bool(self.goal(obs))
        else:
            reached = bool(terminated) and (self.above is None or float(reward) > self.above)
        return obs, self.worth if reached else 0.0, bool(terminated) or reached, truncated, info


class DiscreteActions(gymnasium.ActionWrapper[Any, Any, Any]):
    """Replaces a continuous action space by a grid of numbered actions, including the bounds.

    Args:
        env: an environment with a bounded Box of actions.
        levels: number of evenly spaced actions per dimension: one number, or one per dimension.
    """

    def __init__(self, env: Env, levels: int | Sequence[int] = 5) -> None:
        super().__init__(env)
        box = env.action_space
        if not isinstance(box, spaces.Box) or not box.is_bounded():
            raise InputError(f"DiscreteActions needs a bounded Box of actions, not {box}")
        low, high = box.low.ravel(), box.high.ravel()
        counts = [levels] * len(low) if isinstance(levels, int) else list(levels)
        if len(counts) != len(low) or any(_whole("levels", n) < 2 for n in counts):
            raise InputError(f"levels must be at least 2, one number or {len(low)} of them, not {levels!r}")
        if np.prod(counts, dtype=float) > MOST_ACTIONS:
            raise InputError(f"{levels!r} levels make {np.prod(counts, dtype=float):.0f} actions: choose fewer")
        axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, counts, strict=True)]
        grid = [np.array(a).reshape(box.shape).astype(box.dtype) for a in itertools.product(*axes)]
        self.actions = [np.clip(a, box.low, box.high) for a in grid]
        self.action_space = spaces.Discrete(len(self.actions))

    def action(self, action: Any) -> Any:
        """The continuous action with this number."""
        return self.actions[int(action)].copy()


class SelectObservation(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Keeps some parts of an observation.

    Args:
        env: the environment.
        keep: for a Dict or Tuple, a list of parts, or one key whose part becomes the observation; for a
            one-dimensional Box, a list of columns.
    """

    def __init__(self, env: Env, keep: str | int | Sequence[str | int]) -> None:
        super().__init__(env)
        self._single = isinstance(keep, str | int)
        self._keys: list[Any] = [keep] if isinstance(keep, str | int) else list(keep)
        if not self._keys:
            raise InputError("keep must name at least one part of the observation")
        self.observation_space = self._select_space(env.observation_space)

    def observation(self, observation: Any) -> Any:
        """The kept parts."""
        if isinstance(self.env.observation_space, spaces.Box):
            return np.asarray(observation)[self._keys]
        if self._single:
            return observation[self._keys[0]]
        parts = [observation[key] for key in self._keys]
        if isinstance(self.env.observation_space, spaces.Dict):
            return dict(zip(self._keys, parts, strict=True))
        return tuple(parts)

    def _select_space(self, space: spaces.Space[Any]) -> spaces.Space[Any]:
        if isinstance(space, spaces.Dict):
            self._check_keys(list(space.spaces))
            if self._single:
                return space.spaces[self._keys[0]]
            return spaces.Dict({key: space[key] for key in self._keys})
        if isinstance(space, spaces.Tuple):
            self._check_keys(range(len(space.spaces)))
            if self._single:
                part: spaces.Space[Any] = space.spaces[self._keys[0]]
                return part
            return spaces.Tuple([space[i] for i in self._keys])
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            self._check_keys(range(space.shape[0]))
            return spaces.Box(space.low[self._keys], space.high[self._keys], dtype=space.dtype)
        raise InputError(f"SelectObservation needs a Dict, a Tuple or a Box with one dimension, not {space}")

    def _check_keys(self, known: Sequence[Any]) -> None:
        for key in self._keys:
            if key not in known or isinstance(key, bool):
                parts = ", ".join(repr(k) for k in known) if len(known) <= 20 else f"0 to {len(known) - 1}"
                raise InputError(f"the observation has no part {key!r}: it has {parts}")


class ActionRepeat(gymnasium.ActionWrapper[Any, Any, Any]):
    """Repeats each action and sums the rewards; the horizon is divided accordingly.

    Args:
        env: the environment.
        times: number of repeats, fewer if the episode ends.
    """

    def __init__(self, env: Env, times: int) -> None:
        super().__init__(env)
        self.times = _whole("times", times)
        limit = getattr(env.spec, "max_episode_steps", None) or getattr(env.unwrapped, "horizon", None)
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            limit = env._max_episode_steps
        if limit is not None:
            self._cached_spec = copy.deepcopy(env.spec) or EnvSpec(type(env.unwrapped).__name__)
            self._cached_spec.max_episode_steps = -(-int(limit) // self.times)

    def step(self, action: Any) -> Step:
        """Several steps with one action."""
        total = 0.0
        for _ in range(self.times):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return obs, total, terminated, truncated, info


class ActionNoise(gymnasium.ActionWrapper[Any, Any, Any]):
    """Adds Gaussian noise to every action, within its bounds.

    Args:
        env: an environment with a Box of actions.
        deviation: standard deviation of the noise, in the units of actions.
    """

    def __init__(self, env: Env, deviation: float) -> None:
        super().__init__(env)
        if not isinstance(env.action_space, spaces.Box):
            raise InputError(f"ActionNoise needs a Box of actions, not {env.action_space}")
        try:
            self.deviation = float(deviation)
        except (TypeError, ValueError):
            self.deviation = -1.0
        if not 0 <= self.deviation < np.inf:
            raise InputError(f"deviation must be a finite number of at least 0, not {deviation!r}")
        self._noise = np.random.default_rng()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; its seed also seeds the noise."""
        if seed is not None:
            self._noise = np.random.default_rng(seed)
        return super().reset(seed=seed, options=options)

    def action(self, action: Any) -> Any:
        """The action with noise."""
        box = self.action_space
        assert isinstance(box, spaces.Box)
        moved = np.asarray(action) + self._noise.normal(0.0, self.deviation, box.shape)
        return np.clip(moved, box.low, box.high).astype(box.dtype)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


REGISTRY: dict[str, type[gymnasium.Wrapper[Any, Any, Any, Any]]] = {
    wrapper.__name__: wrapper
    for wrapper in (ActionNoise, ActionRepeat, DiscreteActions, GoalReward, Horizon, SelectObservation)
}
"""The wrappers by name."""
