"""Checks of what a file holds: each says in one sentence what is wrong."""

from __future__ import annotations

import math
from typing import Any

from cmerl.errors import InputError
from cmerl.exported.container import Arrays


def shape(arrays: Arrays, name: str, sides: tuple[int | None, ...], kind: str) -> Any:
    """An array of this shape (None for any side) and kind."""
    array = arrays.get(name)
    good = array is not None and array.ndim == len(sides) and array.dtype.kind == kind
    good = good and all(want in (None, side) for want, side in zip(sides, array.shape, strict=True))  # type: ignore[union-attr]
    need(good, f"array {name!r} is missing, or has another shape")
    return array


def whole(value: Any, least: int, most: int) -> bool:
    """Whether a value is a whole number in this range."""
    return type(value) is int and least <= value <= most


def number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return type(value) in (int, float) and math.isfinite(value)


def need(held: bool, sentence: str) -> None:
    """Raise the sentence unless a condition holds."""
    if not held:
        raise InputError(sentence)
