"""Checks that all calculators share."""

from __future__ import annotations

import math

import numpy as np

from cmerl.errors import InputError


def positive(name: str, value: float) -> None:
    """Refuse what is not a positive number."""
    if not 0.0 < value < math.inf:
        raise InputError(f"{name} must be a positive number, not {value!r}")


def not_negative(name: str, value: float) -> None:
    """Refuse what is not a number from 0 on."""
    if not 0.0 <= value < math.inf:
        raise InputError(f"{name} must be a number from 0 on, not {value!r}")


def probability(name: str, value: float) -> None:
    """Refuse what does not lie strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {value!r}")


def whole(name: str, value: int, *, least: int) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)
