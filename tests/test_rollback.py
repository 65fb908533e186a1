"""All or nothing: what fails leaves things as they were."""

import numpy as np
import pytest

from cmerl.growing import GrowingMatrix, GrowingVector
from cmerl.rollback import all_or_nothing
from cmerl.transitions import PointSet


def test_matrices_vectors_points_and_generators_come_back() -> None:
    points, matrix, vector = PointSet(), GrowingMatrix(2, 2), GrowingVector(np.float64)
    points.add(np.eye(3))
    matrix.view[...] = 1.0
    vector.extend(np.arange(3.0))
    rng = np.random.default_rng(0)
    box = PointSet()  # anything of ours with attributes
    box.__dict__.update(parts=[points, matrix, vector], rng=rng, numbers={"a": 1})
    state = rng.bit_generator.state

    def change() -> None:
        with all_or_nothing(box, points, matrix, vector):
            points.add(np.full((40, 3), 2.0) + np.arange(40)[:, None])
            matrix.resize(30, 30)[...] = 7.0
            vector.extend(np.arange(100.0))
            rng.normal()
            box.__dict__["numbers"]["b"] = 2
            box.__dict__["new"] = 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change()
    assert len(points) == 3
    assert points.find(np.eye(3)).tolist() == [0, 1, 2]
    assert points.find(np.full((1, 3), 2.0)).tolist() == [-1]
    np.testing.assert_array_equal(vector.view, np.arange(3.0))
    assert rng.bit_generator.state == state
    assert box.__dict__["numbers"] == {"a": 1}
    assert "new" not in box.__dict__


def test_room_beyond_a_matrix_is_zero_again() -> None:
    matrix = GrowingMatrix(2, 2)

    def change() -> None:
        with all_or_nothing(matrix):
            matrix.resize(5, 5)[...] = 3.0
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        change()
    assert matrix.shape == (2, 2)
    np.testing.assert_array_equal(matrix.resize(6, 6)[2:], 0.0)


def test_blocks_inside_one_another_are_one() -> None:
    outer, inner = GrowingVector(np.float64), GrowingVector(np.float64)

    def change() -> None:
        with all_or_nothing(outer, inner):
            with all_or_nothing(inner):
                inner.extend(np.ones(2))
            raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        change()
    assert len(inner) == 0
