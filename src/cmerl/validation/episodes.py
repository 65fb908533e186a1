"""Checks of seeds, horizons, steps, rewards and reset options."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from cmerl.errors import InputError, shown


def check_step(step: Any, horizon: int) -> None:
    """Refuse what is not a step of an episode."""
    if isinstance(step, bool) or not isinstance(step, int | np.integer) or not 0 <= step < horizon:
        raise InputError(f"step must be a whole number from 0 to {horizon - 1}, not {step!r}")


def check_seed(seed: int) -> int:
    """A seed as a non-negative int."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise InputError(f"seed must be a whole number from 0 to 2⁶³ − 1, not {seed!r}")
    return int(seed)


def check_reward(reward: Any, largest: float = 1e15) -> float:
    """A reward as a finite float.

    Args:
        reward: what the environment gave.
        largest: beyond this, sums over an episode lose what the other rewards say.
    """
    try:
        value = float(reward)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the reward {shown(reward)} is not a number") from None
    if not math.isfinite(value):
        raise InputError(f"the reward is {value}; it must be finite")
    if abs(value) > largest:
        raise InputError(f"the reward is {value:g}, too large to learn from: scale rewards to at most {largest:g}")
    return value


def check_horizon(horizon: int) -> int:
    """Return ``horizon`` as an int of at least 1."""
    try:
        steps = operator.index(horizon)
    except TypeError:
        steps = 0
    if steps < 1:
        raise InputError(f"horizon must be an integer of at least 1, but is {horizon!r}.")
    return steps


def check_options(options: dict[str, Any] | None) -> dict[str, Any]:
    """Return the option of a reset: the state to start in."""
    options = options or {}
    if unknown := set(options) - {"state"}:
        raise InputError(f'reset() knows only the option "state", but was given {sorted(unknown, key=str)}.')
    return options
