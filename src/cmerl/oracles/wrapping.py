"""Detection of wrappers that change an environment."""

from __future__ import annotations

from typing import Any

import gymnasium


def is_transformed(env: Any) -> bool:
    """Whether a wrapper changes observations, actions or rewards, so that its model is not env's."""
    changing = (gymnasium.ObservationWrapper, gymnasium.ActionWrapper, gymnasium.RewardWrapper)
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, changing):
            return True
        env = env.env
    return False
