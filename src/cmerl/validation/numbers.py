"""Checks of numbers: counts, indices, probabilities, constants."""

from __future__ import annotations

import math
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
    if isinstance(value, bool) or count < least:
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


def check_indices(name: str, values: NDArray[Any], size: int, ndim: int | None = None) -> NDArray[Any]:
    """Refuse what NumPy would wrap around, truncate or take for a mask."""
    wrong_type = values.dtype.kind not in "iu" and values.size > 0
    if wrong_type or (ndim is not None and values.ndim != ndim):
        raise InputError(f"{name} must be integer, but is {values!r}.")
    if ((values < 0) | (values >= size)).any():
        raise InputError(f"{name} must lie from 0 to {size - 1}, but is {values!r}.")
    return values.astype(np.int64)


def check_positive(name: str, value: float) -> None:
    """Refuse what is not a positive number."""
    if not 0.0 < value < math.inf:
        raise InputError(f"{name} must be a positive number, not {value!r}")


def check_not_negative(name: str, value: float) -> None:
    """Refuse what is not a number from 0 on."""
    if not (isinstance(value, int | float | np.number) and 0.0 <= value < math.inf):
        raise InputError(f"{name} must be a number of at least 0, not {value!r}")


def check_inside(name: str, value: float) -> None:
    """Refuse what does not lie strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {value!r}")


def check_finite(name: str, value: Any) -> float:
    """A user's number as a finite float."""
    number = _as_float(value)
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, not {value!r}")
    return number


def check_constant(name: str, value: Any) -> float:
    """A user's constant as a positive float, where "auto" was dealt with before."""
    number = _as_float(value)
    if not 0.0 < number < math.inf:
        raise InputError(f"{name} must be a positive number or 'auto', not {value!r}")
    return number


def _as_float(value: Any) -> float:
    """A float, or NaN for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
