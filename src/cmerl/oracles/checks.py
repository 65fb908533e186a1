"""Checks that all oracles share."""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError


def is_transformed(env: Any) -> bool:
    """Whether a wrapper changes observations, actions or rewards, so that its model is not env's."""
    changing = (gymnasium.ObservationWrapper, gymnasium.ActionWrapper, gymnasium.RewardWrapper)
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, changing):
            return True
        env = env.env
    return False


def check_horizon(horizon: int) -> int:
    """Return ``horizon`` as an int of at least 1."""
    try:
        steps = operator.index(horizon)
    except TypeError:
        steps = 0
    if steps < 1:
        raise InputError(f"horizon must be an integer of at least 1, but is {horizon!r}.")
    return steps


def check_index(name: str, value: Any, size: int) -> int:
    """Return ``value`` as an int from 0 to size − 1."""
    return int(check_indices(name, np.asarray(value), size, ndim=0))


def check_indices(name: str, values: NDArray[Any], size: int, ndim: int | None = None) -> NDArray[Any]:
    """Refuse what NumPy would wrap around, truncate or take for a mask."""
    wrong_type = values.dtype.kind not in "iu" and values.size > 0
    if wrong_type or (ndim is not None and values.ndim != ndim):
        raise InputError(f"{name} must be integer, but is {values!r}.")
    if ((values < 0) | (values >= size)).any():
        raise InputError(f"{name} must lie from 0 to {size - 1}, but is {values!r}.")
    return values.astype(np.int64)
