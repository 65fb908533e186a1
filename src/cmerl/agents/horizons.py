"""The horizon: given by the user or by the environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from cmerl.errors import InputError


def find_horizon(env: gymnasium.Env[Any, Any], horizon: int | None) -> int:
    """The horizon: given, or the environment's ``max_episode_steps``, ``horizon`` or ``max_steps``."""
    limit = time_limit(env)
    if horizon is None:
        own = (getattr(env.unwrapped, name, None) for name in ("horizon", "max_steps"))
        horizon = limit or next((steps for steps in own if steps is not None), None)
        if horizon is None:
            raise InputError(
                "this environment has no max_episode_steps: pass horizon=… (--horizon), the steps per episode"
            )
    if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer) or horizon < 1:
        raise InputError(f"horizon must be a whole number of at least 1, not {horizon!r}")
    if horizon > 10**6:
        raise InputError(f"horizon must be at most a million steps, not {horizon}: pass a smaller horizon=…")
    if limit is not None and limit < horizon:
        raise InputError(
            f"the environment cuts episodes after {limit} steps, before the horizon of {horizon}: "
            f"pass horizon={limit} or make the environment with max_episode_steps={horizon}"
        )
    return int(horizon)


def time_limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """The steps after which a wrapper or the registration cuts episodes, if any."""
    limits = [getattr(env.spec, "max_episode_steps", None)]
    layer: Any = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, gymnasium.wrappers.TimeLimit):
            limits.append(layer._max_episode_steps)
        layer = layer.env
    return min((int(limit) for limit in limits if limit is not None), default=None)
