"""Numbers that users give come back in plain Python types, or are refused in one sentence."""

import math
from typing import Any

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.validation import numbers


@pytest.mark.parametrize("value", [3, np.int64(3), np.array(3)])
def test_counts_and_indices_are_ints(value: Any) -> None:
    for found in (numbers.check_count("n", value, least=3), numbers.check_index("i", value, 4)):
        assert found == 3
        assert type(found) is int


@pytest.mark.parametrize("value", [2, 3.0, True, None, "3", np.array([3])])
def test_what_is_no_count_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="n must be an integer of at least 3"):
        numbers.check_count("n", value, least=3)


@pytest.mark.parametrize("value", [-1, 4, 1.0, None])
def test_an_index_does_not_wrap_around(value: Any) -> None:
    with pytest.raises(InputError, match="i must be an integer from 0 to 3"):
        numbers.check_index("i", value, 4)


@pytest.mark.parametrize("values", [[0, 4], [-1], [0.0, 1.0], [True, False]])
def test_an_array_of_indices_is_checked_as_a_whole(values: Any) -> None:
    np.testing.assert_array_equal(numbers.check_indices("i", np.array([0, 3]), 4), [0, 3])
    with pytest.raises(InputError, match="i must"):
        numbers.check_indices("i", np.array(values), 4)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (numbers.check_positive, [1e-300, 5], [0.0, -1.0, math.inf, math.nan]),
        (numbers.check_not_negative, [0.0, np.float32(2.0)], [-1e-9, math.inf, math.nan, "1"]),
        (numbers.check_inside, [1e-9, 0.999], [0.0, 1.0, math.nan]),
        (numbers.check_probability, [0, 0.5, 1], [-0.1, 1.1, "often", math.nan]),
        (numbers.check_finite, ["2.5", -3], [math.inf, None, "x"]),
        (numbers.check_constant, ["2.5", 3], [0.0, -1, math.inf, None, "auto"]),
    ],
)
def test_each_range_has_its_ends(check: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        check("x", value)
    for value in bad:
        with pytest.raises(InputError, match=r"^x must "):
            check("x", value)


def test_pairs_are_hashable() -> None:
    assert numbers.check_pair("centre", [1, 2]) == (1.0, 2.0)
    for value in ([1], [1, math.nan], "ab"):
        with pytest.raises(InputError, match="centre must be two finite numbers"):
            numbers.check_pair("centre", value)
