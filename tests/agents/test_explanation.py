"""Explanations: which evidence is shown, and how values are written."""

from typing import Any

import numpy as np
import pytest

from cmerl.agents.explanation import heaviest, short


def test_the_heaviest_count_whatever_their_sign_and_nothing_weighs_nothing() -> None:
    weights = np.array([0.1, -0.7, 0.0, 0.3, -0.1])
    assert list(heaviest(weights, 3)) == [1, 3, 0]  # of equal ones the first
    assert list(heaviest(weights, 99)) == [1, 3, 0, 4]
    assert list(heaviest(np.zeros(3), 2)) == []


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.array([1.0, -0.12345]), "[1, -0.123]"),
        ([1, 2, 3, 4, 5, 6, 7], "[1, 2, 3, 4, 5, 6…]"),
        (np.float32(0.5), "0.5"),
        (3, "3"),
        ("a" * 31, "a" * 29 + "…"),
        ("a" * 30, "a" * 30),
    ],
)
def test_values_are_written_in_a_few_signs(value: Any, written: str) -> None:
    assert short(value) == written
