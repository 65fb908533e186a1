"""Schemas: what fits passes, anything else is refused with its place."""

import math
from typing import Any

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.validation.schema import (
    Schema,
    bound,
    check_arrays,
    either,
    flag,
    flags,
    floats,
    items,
    number,
    one_of,
    plain,
    table,
    text,
    whole,
    wholes,
)


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (whole(1, 3), [1, 3], [0, 4, 2.0, True, "2", None]),
        (number(0.0, 1.0), [0, 0.5, 1.0], [-0.1, 1.1, math.nan, math.inf, True, "0"]),
        (bound, [None, 1e300], [math.inf, "low"]),
        (flag, [True, False], [0, 1, None]),
        (text("[a-c]+"), ["abc"], ["abd", "", 3]),
        (one_of("a", 1, None), ["a", 1, None], ["b", 1.0, True]),
        (either(flag, whole(0, 9)), [True, 3], [10, "x"]),
        (items(whole(0, 9), 1, 2), [[1], [1, 2]], [[], [1, 2, 3], [10], (1,)]),
        (table(a=flag), [{"a": True}], [{}, {"a": 1}, {"a": True, "b": 2}, []]),
        (plain(depth=1, most=3, largest=5.0), [[1, 2], {"a": "x"}], [[[1]] * 2, [1, 2, 3], [6.0], [math.inf]]),
    ],
)
def test_what_fits_passes_and_nothing_else(schema: Schema, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        schema(value, "here")
    for value in wrong:
        with pytest.raises(InputError, match="here"):
            schema(value, "here")


def test_the_place_leads_to_the_value() -> None:
    nested = table(rows=items(table(size=whole(1, 5))))
    with pytest.raises(InputError, match=r"^rows\[1\]\.size must be a whole number from 1 to 5, not 9$"):
        nested({"rows": [{"size": 2}, {"size": 9}]}, "")
    with pytest.raises(InputError, match=r"^rows\[0\] lacks 'size'$"):
        nested({"rows": [{}]}, "")


ARRAYS = {"x": floats("n", 2, least=0.0), "k": wholes("n"), "on": flags(None)}
RIGHT = {"x": np.ones((3, 2)), "k": np.arange(3), "on": np.array([True])}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": np.arange(4)}, r"array 'k' must have the shape \(3\), not \(4,\)"),  # n is 3 by then
        ({"x": np.ones(3)}, "array 'x' must have the shape"),
        ({"x": -np.ones((3, 2))}, "array 'x' has entries outside of 0 to"),
        ({"x": np.full((3, 2), np.nan)}, "array 'x' holds NaN or infinity"),
        ({"x": np.ones((3, 2), np.float32)}, "array 'x' must be of type f, not float32"),
        ({"k": np.ones(3)}, "array 'k' must be of type i"),
        ({"more": np.ones(1)}, "the file has 'more', which this version of cmerl does not know"),
    ],
)
def test_arrays_have_types_ranges_and_sizes_in_common(change: dict[str, Any], message: str) -> None:
    sizes: dict[str, int] = {}
    check_arrays(RIGHT, ARRAYS, sizes)
    assert sizes == {"n": 3}
    with pytest.raises(InputError, match=message):
        check_arrays({**RIGHT, **change}, ARRAYS, {})
    with pytest.raises(InputError, match="the file lacks 'on'"):
        check_arrays({"x": RIGHT["x"], "k": RIGHT["k"]}, ARRAYS, {})
    check_arrays({"x": RIGHT["x"], "k": RIGHT["k"]}, ARRAYS, {}, optional=["on"])
