"""Checks of what users pass to a world; each returns the value in its plain Python type."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``."""
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    if count < least:
        raise InputError(f"{name} must be an integer of at least {least}, but is {value!r}.")
    return count


def check_index(name: str, value: Any, size: int) -> int:
    """Return ``value`` as an int in 0 … size−1; NumPy integers and 0-d arrays are welcome."""
    try:
        index = operator.index(value)
    except TypeError:
        index = -1  # negative indices would wrap around silently, so they are errors as well
    if not 0 <= index < size:
        raise InputError(f"{name} must be an integer from 0 to {size - 1}, but is {value!r}.")
    return index


def check_pair(name: str, value: ArrayLike) -> tuple[float, float]:
    """Return ``value`` as a tuple of two finite floats, which is hashable; configuration files have lists."""
    try:
        x, y = np.asarray(value, dtype=np.float64).tolist()
        pair = float(x), float(y)
    except (TypeError, ValueError):
        pair = np.nan, np.nan
    if not np.isfinite(pair).all():
        raise InputError(f"{name} must be two finite numbers, but is {value!r}.")
    return pair


def check_number(name: str, value: Any) -> float:
    """Return ``value`` as a float, of any size."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number, but is {value!r}.") from None


def check_numbers(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return ``value`` as a new array of floats, of any shape."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, but is {value!r}.") from None


def check_probability(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, 1]."""
    probability = check_number(name, value)
    if not 0.0 <= probability <= 1.0:
        raise InputError(f"{name} must be a probability between 0 and 1, but is {value!r}.")
    return probability


def check_options(options: dict[str, Any] | None) -> dict[str, Any]:
    """Return the options of a reset, of which there is one: the state to start in."""
    options = options or {}
    if unknown := set(options) - {"state"}:
        raise InputError(f'reset() knows only the option "state", but was given {sorted(unknown, key=str)}.')
    return options
