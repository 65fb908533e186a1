"""Fallbacks and action masks given by users."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np

from cmerl.errors import InputError, shown
from cmerl.spaces.actions import ActionSet
from cmerl.validation.functions import count_arguments

Acts = Callable[[Any, int], Any]
Cost = Callable[[Any, Any, Any], float] | str


def as_fallback(fallback: Any, space: gymnasium.Space[Any]) -> Acts | None:
    """A fallback as users give it: a function of (obs) or (obs, step), an action, or "greedy"."""
    if fallback is None or (isinstance(fallback, str) and fallback == "greedy"):
        return None
    if callable(fallback):
        both = count_arguments(fallback, "fallback", "(obs, step)", "(obs)") == 2
        return fallback if both else _OfObservation(fallback)
    action = fallback
    if isinstance(space, gymnasium.spaces.Box) and not isinstance(fallback, str):
        try:
            action = np.asarray(fallback, dtype=space.dtype).reshape(space.shape)
        except (TypeError, ValueError):
            action = None
    if action is None or isinstance(action, str) or not space.contains(action):
        raise InputError(f"fallback must be a function, an action of the environment or 'greedy', not {fallback!r}")
    return _Constant(action)


def fallback_action(action: Any, actions: ActionSet) -> Any:
    """What a fallback plays: one of few actions, or numbers, which are clipped to their bounds as by an actuator."""
    scale = actions.scale
    if scale is None:
        number = _number_of(action, actions)
        if number is None:
            raise InputError(f"the fallback's action is {shown(action)}, which is none of the {len(actions)} actions")
        return copy.deepcopy(actions.values[number])
    try:
        x = np.asarray(action, dtype=np.float64).reshape(1, -1)
    except (TypeError, ValueError):
        x = np.empty((1, 0))
    if x.size != len(scale.low) or not np.isfinite(x).all():
        raise InputError(f"the fallback's action is {shown(action)}, not finite numbers of shape {scale.shape}")
    inside = isinstance(action, np.ndarray) and action.shape == scale.shape and not (x < scale.low).any()
    if inside and not (x > scale.high).any():
        return action
    return scale.decode(scale.encode(x))[0]  # which clips


def as_cost(cost: Any) -> Cost | None:
    """A cost as users give it: a function of (obs, action, next_obs), or a key of info."""
    if cost is None or isinstance(cost, str):
        return cost
    if not callable(cost):
        raise InputError(f"cost must be a function of (obs, action, next_obs) or a key of info, not {cost!r}")
    count_arguments(cost, "cost", "(obs, action, next_obs)")
    return cast("Cost", cost)


def as_mask(allowed: Any, actions: ActionSet) -> Callable[[Any, Any], bool] | None:
    """A mask as users give it: a function of (obs, action), or of (obs) that gives a truth value for every action."""
    if allowed is None:
        return None
    if not callable(allowed):
        raise InputError(f"allowed must be a function of (obs, action) or of (obs), not {allowed!r}")
    if count_arguments(allowed, "allowed", "(obs, action)", "(obs)") == 2:
        return lambda obs, action: bool(allowed(obs, action))

    def at(obs: Any, action: Any) -> bool:
        mask = np.asarray(allowed(obs), dtype=bool).ravel()
        if len(mask) != len(actions):
            raise InputError(f"allowed(obs) must have one truth value for each of {len(actions)} actions")
        return bool(mask[(actions.rows == actions.encode(action)).all(axis=1).argmax()])

    return at


def _number_of(action: Any, actions: ActionSet) -> int | None:
    try:
        row = actions.encode(action)
    except (TypeError, ValueError):
        return None
    if row.shape[1] != actions.rows.shape[1]:
        return None
    same = (actions.rows == row).all(axis=1)
    return int(same.argmax()) if same.any() else None


@dataclass(frozen=True)
class _Constant:
    action: Any

    def __call__(self, obs: Any, step: int) -> Any:
        return copy.deepcopy(self.action)


@dataclass(frozen=True)
class _OfObservation:
    function: Callable[[Any], Any]

    def __call__(self, obs: Any, step: int) -> Any:
        return self.function(obs)
