"""Points and parameters of kernels: what is taken, and one sentence for what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cmerl.errors import InputError, KernelError
from cmerl.validation.points import as_pair, as_points, check_columns, check_radius, count, positive, positives


def test_arrays_pass_without_a_copy_and_lists_become_arrays() -> None:
    X = np.random.default_rng(0).random((3, 2))
    assert as_points(X) is X
    np.testing.assert_array_equal(as_points([[1, 2], [3, 4]]), [[1.0, 2.0], [3.0, 4.0]])
    assert as_points(np.array([[1]], dtype=np.int8)).dtype == np.float64


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([1.0, 2.0], "use X\\[:, None\\] for 2 points"),
        (np.zeros((2, 0)), "with d ≥ 1"),
        (np.zeros((2, 2, 2)), "with d ≥ 1"),
        ([["a", "b"]], "must be numbers"),
        ([[0.0, 1.0], [0.0, np.nan]], "row 1, column 1 is nan"),
        ([[np.inf]], "row 0, column 0 is inf"),
    ],
)
def test_what_is_no_array_of_points_is_refused(X: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        as_points(X)


def test_a_pair_of_one_is_the_same_object_twice() -> None:
    X = [[1.0], [2.0]]
    for Y in (None, X):
        first, second = as_pair(X, Y)
        assert first is second
    with pytest.raises(InputError, match="X has 1 columns but Y has 2"):
        as_pair(X, [[1.0, 2.0]])


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan, "a", None])
def test_a_parameter_is_a_positive_number(wrong: Any) -> None:
    with pytest.raises(KernelError, match="width must be"):
        positive("width", wrong)
    assert positive("width", np.float32(0.5)) == 0.5


def test_a_parameter_may_have_one_value_for_each_column() -> None:
    assert positives("width", np.array([1.0, 2.0])) == (1.0, 2.0)
    assert positives("width", 3) == 3.0
    with pytest.raises(KernelError, match="empty sequence"):
        positives("width", [])
    check_columns("width", (1.0, 2.0), np.zeros((5, 2)))
    check_columns("width", 1.0, np.zeros((5, 7)))
    with pytest.raises(InputError, match="2 entries but the points have 3 columns"):
        check_columns("width", (1.0, 2.0), np.zeros((5, 3)))


def test_points_lie_within_a_declared_radius_up_to_rounding() -> None:
    X = np.array([[0.6, 0.8], [3.0, 4.0]])
    check_radius(5.0, X)
    check_radius(None, X)
    check_radius(1.0, np.zeros((0, 2)))
    check_radius(5.0 / (1.0 + 1e-10), X)
    with pytest.raises(InputError, match="Row 1 has norm 5, outside the declared radius 2"):
        check_radius(2.0, X)


def test_objects_are_counted_and_arrays_must_be_points() -> None:
    assert count(["a", "b"]) == 2
    assert count(np.zeros((4, 1))) == 4
    with pytest.raises(InputError, match="2-D"):
        count(np.zeros(4))
