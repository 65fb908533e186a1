"""Fallbacks and action masks given by users."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from cmerl.errors import InputError
from cmerl.spaces.actions import ActionSet

Acts = Callable[[Any, int], Any]


def as_fallback(fallback: Any, space: gymnasium.Space[Any]) -> Acts | None:
    """A fallback as users give it: a function of (obs) or (obs, step), an action, or "greedy"."""
    if fallback is None or (isinstance(fallback, str) and fallback == "greedy"):
        return None
    if callable(fallback):
        return fallback if _parameters(fallback) != 1 else _OfObservation(fallback)
    if isinstance(space, gymnasium.spaces.Box) and not isinstance(fallback, str):
        fallback = np.asarray(fallback, dtype=space.dtype).reshape(space.shape)
    if isinstance(fallback, str) or not space.contains(fallback):
        raise InputError(f"fallback must be a function, an action of the environment or 'greedy', not {fallback!r}")
    return _Constant(fallback)


def as_mask(allowed: Any, actions: ActionSet) -> Callable[[Any, Any], bool] | None:
    """A mask as users give it: a function of (obs, action), or of (obs) that gives a truth value for every action."""
    if allowed is None:
        return None
    if not callable(allowed):
        raise InputError(f"allowed must be a function of (obs, action) or of (obs), not {allowed!r}")
    if _parameters(allowed) != 1:
        return lambda obs, action: bool(allowed(obs, action))

    def at(obs: Any, action: Any) -> bool:
        mask = np.asarray(allowed(obs), dtype=bool).ravel()
        if len(mask) != len(actions):
            raise InputError(f"allowed(obs) must have one truth value for each of {len(actions)} actions")
        return bool(mask[(actions.rows == actions.encode(action)).all(axis=1).argmax()])

    return at


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


def _parameters(function: Callable[..., Any]) -> int:
    """Number of required arguments of a function; 2 if unknown."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len([p for p in found if p.kind in plain]) if found else 2
