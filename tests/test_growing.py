"""Growing arrays: content stays, room beyond is zero, and saving keeps how they lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.growing import GrowingMatrix, GrowingVector, doubled, nested, part


def test_a_matrix_grows_at_its_edges_and_keeps_its_content() -> None:
    held, expected = GrowingMatrix(), np.zeros((0, 0))
    rng = np.random.default_rng(0)
    for rows, cols in ((3, 2), (3, 20), (40, 21), (41, 60)):
        view = held.resize(rows, cols)
        np.testing.assert_array_equal(view[: expected.shape[0], : expected.shape[1]], expected)
        assert np.count_nonzero(view) == np.count_nonzero(expected)
        view[...] = expected = rng.normal(size=(rows, cols))
    np.testing.assert_array_equal(held.view, expected)


def test_growing_by_one_row_copies_rarely() -> None:
    held, moves, where = GrowingMatrix(), 0, None
    for n in range(1, 2000):
        view = held.resize(n, 3)
        moves, where = moves + (view.base is not where), view.base
    assert moves < 40  # a quarter to spare each time


def test_what_was_appended_can_be_turned_back() -> None:
    held = GrowingMatrix(2, 2)
    held.view[...] = 1.0
    undo, before = held.undo(), held.shape
    grown = held.resize(3, 4)
    grown[2:], grown[:, 2:] = 7.0, 7.0
    held.shape = before
    undo()
    np.testing.assert_array_equal(held.resize(3, 4), np.pad(np.ones((2, 2)), ((0, 1), (0, 2))))


def test_a_matrix_is_saved_with_its_room() -> None:
    held = GrowingMatrix(20, 5)
    held.resize(30, 6)[...] = np.random.default_rng(0).normal(size=(30, 6))
    again = GrowingMatrix.from_arrays(held.arrays())
    np.testing.assert_array_equal(again.view, held.view)
    assert again.view.strides == held.view.strides
    np.testing.assert_array_equal(again.arrays()["capacity"], held.arrays()["capacity"])


@pytest.mark.parametrize("dtype", [np.float64, np.intp])
def test_a_vector_is_the_concatenation_of_what_was_appended(dtype: type) -> None:
    held, parts = GrowingVector(dtype), [np.arange(k, dtype=dtype) for k in (3, 0, 50, 1)]
    for values in parts:
        held.extend(values)
    np.testing.assert_array_equal(held.view, np.concatenate(parts))
    assert len(held) == 54
    assert held.view.dtype == dtype


def test_nested_names_come_apart_again() -> None:
    arrays = {"a": {"x": np.ones(1), "y.z": np.zeros(2)}, "ab": {"x": np.arange(3)}}
    together = nested(arrays)
    assert set(together) == {"a.x", "a.y.z", "ab.x"}
    for name, inner in arrays.items():  # "a" is no part of "ab"
        assert part(together, name).keys() == inner.keys()
    assert part(together, "a.y").keys() == {"z"}


def test_the_clock_strikes_with_the_first_data_and_whenever_they_have_doubled() -> None:
    strikes, last = [], 0
    for n in range(1, 41):
        if doubled(n, last):
            strikes.append(n)
            last = n
    assert strikes == [1, 2, 4, 8, 16, 32]
