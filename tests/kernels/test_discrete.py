"""Delta and Hamming against a double loop over the points."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.kernels import Delta, Hamming, Kernel

words = st.lists(st.text("ab", min_size=3, max_size=3), min_size=1, max_size=8)
examples = settings(max_examples=60, deadline=None)


def double_loop(k: Callable[[Any, Any], float], X: Sequence[Any], Y: Sequence[Any]) -> np.ndarray:
    return np.array([[k(x, y) for y in Y] for x in X], dtype=float)


def equal(x: Any, y: Any) -> float:
    return float(len(x) == len(y) and all(a == b for a, b in zip(x, y, strict=True)))


def fraction(x: Any, y: Any) -> float:
    return sum(a == b for a, b in zip(x, y, strict=True)) / len(x)


@pytest.mark.parametrize(
    ("kernel", "definition"), [(Delta(), equal), (Hamming(), fraction)], ids=["delta", "hamming"]
)
@examples
@given(data=st.data())
def test_matches_a_double_loop(kernel: Kernel, definition: Callable[[Any, Any], float], data: st.DataObject) -> None:
    X, Y = data.draw(words), data.draw(words)
    expected = double_loop(definition, X, Y)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-15)
    as_arrays = [np.array([[ord(letter) for letter in word] for word in side]) for side in (X, Y)]
    np.testing.assert_array_equal(kernel(*as_arrays), kernel(X, Y))
    as_unhashable = [[list(word) for word in side] for side in (X, Y)]
    np.testing.assert_array_equal(kernel(*as_unhashable), kernel(X, Y))
    np.testing.assert_array_equal(kernel(X), kernel(X, X))


def test_delta_compares_numbers_exactly() -> None:
    X = np.array([[0.3], [0.1 + 0.2], [0.0], [-0.0]])
    np.testing.assert_array_equal(Delta()(X), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])


def test_delta_takes_objects_of_any_kind() -> None:
    X = ["noop", ("move", 1), 3, None, frozenset({1}), {"unhashable": 1}]
    np.testing.assert_array_equal(Delta()(X), np.eye(6))
    np.testing.assert_array_equal(Delta()(X, [3.0, {"unhashable": 1}]), np.eye(6)[:, [2, 5]])
    np.testing.assert_array_equal(Delta().diag(X), np.ones(6))


def test_lists_of_arrays_are_rows() -> None:
    rows = [np.array([0.0, 1.0]), np.array([0.0, 2.0])]
    np.testing.assert_array_equal(Delta()(rows), np.eye(2))
    np.testing.assert_array_equal(Hamming()(rows, np.array([[0.0, 1.0]])), [[1.0], [0.5]])


@pytest.mark.parametrize("kernel", [Delta(), Hamming()], ids=repr)
def test_empty_lists(kernel: Kernel) -> None:
    assert kernel([]).shape == (0, 0)
    assert kernel(["ab"], []).shape == (1, 0)
    assert kernel.diag([]).shape == (0,)


@pytest.mark.parametrize("kernel", [Delta(), Hamming()], ids=repr)
def test_bound_and_diameter_are_attained(kernel: Kernel) -> None:
    K = kernel(["aa", "bb"])
    assert kernel.bound == 1.0 == math.sqrt(K[0, 0])
    assert kernel.diameter == math.sqrt(K[0, 0] + K[1, 1] - 2.0 * K[0, 1])


def test_errors() -> None:
    with pytest.raises(InputError, match=r"sequences of one length, got lengths \[2, 3\]"):
        Hamming()(["ab", "abc"])
    with pytest.raises(InputError, match=r"sequences of one length, got lengths \[2, 3\]"):
        Hamming()(["ab"], ["abc"])
    with pytest.raises(InputError, match="Hamming compares sequences such as strings, got int"):
        Hamming()([1, 2])
    with pytest.raises(InputError, match="at least one coordinate, got empty ones"):
        Hamming()(["", ""])
    with pytest.raises(InputError, match="Items of type tuple that hold arrays cannot be compared by =="):
        Delta()([(np.zeros(2), 1), (np.ones(2), 1)])
    with pytest.raises(InputError, match="must be numbers, but the list passed"):
        Delta()(np.zeros((2, 1)), ["a", "b"])
