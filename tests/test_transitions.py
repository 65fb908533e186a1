"""Transitions are checked when they are made; equal points are recognised."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.transitions import PointSet, Transitions, as_points, take

Z = np.array([[0.0, 1.0], [2.0, 0.0], [0.5, 1.0]])
Y = np.array([[2.0], [0.5], [0.0]])


def with_entry(X: np.ndarray, row: int, value: float) -> np.ndarray:
    return np.vstack([X[:row], np.full((1, X.shape[1]), value), X[row + 1 :]])


def test_defaults_are_no_reward_and_no_termination() -> None:
    batch = Transitions.of(Z, Y)
    assert len(batch) == 3
    np.testing.assert_array_equal(batch.rewards, np.zeros(3))
    np.testing.assert_array_equal(batch.terminated, [False, False, False])


def test_the_batch_is_a_copy() -> None:
    mine, rewards = Z.copy(), np.array([1.0, 2.0, 3.0])
    batch = Transitions.of(mine, Y, rewards)
    mine[:], rewards[:] = 9.0, 9.0
    np.testing.assert_array_equal(batch.Z, Z)
    np.testing.assert_array_equal(batch.rewards, [1.0, 2.0, 3.0])


def test_slices_keep_rows_together() -> None:
    batch = Transitions.of(Z, ["a", "b", "c"], [1, 2, 3], [0, 0, 1])[1:]
    assert len(batch) == 2
    np.testing.assert_array_equal(batch.Z, Z[1:])
    assert batch.next_states == ["b", "c"]
    np.testing.assert_array_equal(batch.rewards, [2.0, 3.0])
    np.testing.assert_array_equal(batch.terminated, [False, True])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((with_entry(Z, 1, np.nan), Y), "X has a NaN or infinite entry in row 1"),
        ((with_entry(Z, 2, -np.inf), Y), "X has a NaN or infinite entry in row 2"),
        ((Z, with_entry(Y, 0, np.nan)), "Y has a NaN or infinite entry in row 0"),
        ((Z.tolist(), [[0.0], [1.0], [np.inf]]), "Y has a NaN or infinite entry in row 2"),
        ((Z, Y, [0.0, 1.0, np.nan]), "the reward in row 2 is NaN or infinite"),
        ((Z, Y, [-np.inf, 1.0, np.nan]), "the reward in row 0 is NaN or infinite"),
        ((Z, Y[:2]), r"3 state-actions, 2 next states, rewards of shape \(3,\) and flags of shape \(3,\)"),
        ((Z, Y, [1.0]), r"3 state-actions, 3 next states, rewards of shape \(1,\) and flags of shape \(3,\)"),
        ((Z, Y, None, [True]), r"3 state-actions, 3 next states, rewards of shape \(3,\) and flags of shape \(1,\)"),
        ((["a", "b"], Y), r"2 state-actions, 3 next states, rewards of shape \(2,\) and flags of shape \(2,\)"),
        ((Z[:, 0], Y), r"X must be an n×d array, but has shape \(3,\)"),
        ((Z, Y[:, 0]), r"Y must be an n×d array, but has shape \(3,\)"),
        ((Z[None], Y), r"X must be an n×d array, but has shape \(1, 3, 2\)"),
        ((np.array([["a", "b"]]), Y), "X must be an n×d array of numbers or a list of objects"),
    ],
)
def test_bad_batches_are_refused_with_the_row_or_shape(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Transitions.of(*arguments)


@pytest.mark.parametrize("rewards", [np.zeros((3, 1)), 1.0, ["a", "b", "c"]], ids=["column", "number", "words"])
def test_rewards_must_be_one_number_a_row(rewards: object) -> None:
    with pytest.raises(InputError, match="reward"):
        Transitions.of(Z, Y, rewards)


def test_lists_of_rows_are_arrays_and_lists_of_anything_else_are_objects() -> None:
    rows = as_points([[1, 2], [3, 4]], "X")
    assert isinstance(rows, np.ndarray)
    assert rows.dtype == np.float64
    for objects in (["ab", "cd"], [("s", 0), ("t", 1)], [frozenset({1}), frozenset()], [1.0, 2.0], [[1], [2, 3]]):
        kept = as_points(objects, "X")
        assert kept == objects
        assert kept is not objects


def test_words_are_objects_even_if_they_could_be_read_as_numbers() -> None:
    kept = as_points([("01", "2"), ("1", "2")], "X")
    assert isinstance(kept, list)
    assert kept == [("01", "2"), ("1", "2")]


def test_take_works_on_arrays_and_lists() -> None:
    rows = np.array([2, 0, 2])
    np.testing.assert_array_equal(take(Z, rows), [[0.5, 1.0], [0.0, 1.0], [0.5, 1.0]])
    assert take(["a", "b", "c"], rows) == ["c", "a", "c"]


def test_the_two_zeros_are_one_point() -> None:
    points = PointSet()
    ids = points.add(as_points(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, -0.0], [1.0, 0.0]]), "X"))
    np.testing.assert_array_equal(ids, [0, 0, 1, 1])
    assert not np.any(np.signbit(points.points))


batches = st.lists(
    st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([-0.0, 0.0, 0.5])), max_size=40), max_size=5
)


@settings(max_examples=60, deadline=None)
@given(batches=batches)
def test_distinct_rows_get_ids_in_the_order_of_arrival(batches: list[list[tuple[int, float]]]) -> None:
    points, first_seen = PointSet(), []
    for batch in batches:
        ids = points.add(as_points(np.array(batch, dtype=float).reshape(-1, 2), "X"))
        for row in batch:
            if row not in first_seen:
                first_seen.append(row)
        assert ids.tolist() == [first_seen.index(row) for row in batch]
        assert len(points) == len(first_seen)
    if first_seen:
        np.testing.assert_array_equal(points.points, first_seen)
        unseen = np.array([[9.0, 9.0]])
        everything = np.vstack([np.array(first_seen[::-1], dtype=float) + 0.0, unseen])
        assert points.find(everything).tolist() == [*reversed(range(len(first_seen))), -1]


def test_earlier_views_of_the_points_survive_growth() -> None:
    points = PointSet()
    points.add(Z)
    early = points.points
    points.add(np.random.default_rng(0).normal(size=(100, 2)))
    np.testing.assert_array_equal(early, Z)
    np.testing.assert_array_equal(points.points[:3], Z)


def test_objects_are_told_apart_by_equality() -> None:
    points = PointSet()
    assert points.add(["ab", ("s", 1), "ab", ("s", 1), frozenset("ab")]).tolist() == [0, 1, 0, 1, 2]
    assert points.points == ["ab", ("s", 1), frozenset("ab")]
    assert points.find([frozenset("ba"), "ab", "ba"]).tolist() == [2, 0, -1]


def test_objects_without_a_hash_are_kept_apart() -> None:
    points = PointSet()
    assert points.add([["a"], ["b"]]).tolist() == [0, 1]
    assert points.points == [["a"], ["b"]]


def test_nothing_is_found_among_no_points() -> None:
    assert PointSet().find(Z).tolist() == [-1, -1, -1]
    assert len(PointSet()) == 0


def test_kinds_and_dimensions_cannot_be_mixed() -> None:
    numbers, words = PointSet(), PointSet()
    numbers.add(Z)
    words.add(["a"])
    with pytest.raises(InputError, match="next states mixes numeric rows with objects"):
        numbers.check(["a"], "next states")
    with pytest.raises(InputError, match="the batch mixes numeric rows with objects"):
        words.add(Z)
    with pytest.raises(InputError, match="the batch has 1 columns, but the data so far has 2"):
        numbers.add(Y)
    assert (len(numbers), len(words)) == (3, 1)
