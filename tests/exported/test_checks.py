"""Checks of what a file holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.exported.checks import need, number, shape, whole


@pytest.mark.parametrize(
    ("value", "good"), [(0, True), (3, True), (4, False), (-1, False), (1.0, False), (True, False)]
)
def test_whole_numbers_lie_in_their_range(value: Any, good: bool) -> None:
    assert whole(value, 0, 3) is good


@pytest.mark.parametrize(
    ("value", "good"), [(0, True), (-2.5, True), (np.inf, False), (np.nan, False), ("1", False), (True, False)]
)
def test_numbers_are_finite(value: Any, good: bool) -> None:
    assert number(value) is good


def test_arrays_have_their_shape_and_kind() -> None:
    arrays = {"a": np.zeros((2, 3))}
    assert shape(arrays, "a", (2, None), "f") is arrays["a"]
    for name, sides, kind in [("b", (2, 3), "f"), ("a", (2,), "f"), ("a", (2, 4), "f"), ("a", (2, 3), "i")]:
        with pytest.raises(InputError, match=f"array '{name}' is missing, or has another shape"):
            shape(arrays, name, sides, kind)


def test_what_does_not_hold_is_said() -> None:
    need(True, "never said")
    with pytest.raises(InputError, match="the horizon is none"):
        need(False, "the horizon is none")
