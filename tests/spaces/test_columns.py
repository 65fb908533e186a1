"""Columns of observations: bounds scaled to the unit cube, and angles."""

import numpy as np
import pytest
from gymnasium import spaces

from cmerl.errors import InputError
from cmerl.spaces import StateSpace


def test_bounded_boxes_are_scaled_to_the_unit_cube():
    box = spaces.Box(np.array([-2.0, 0.0]), np.array([2.0, 10.0]), dtype=np.float64)
    states = StateSpace.of(box)
    np.testing.assert_allclose(states.encode(np.array([-2.0, 10.0])), [[0.0, 1.0]])
    np.testing.assert_allclose(states.encode(np.array([1.0, 5.0])), [[0.75, 0.5]])
    assert states.all_states is None


def test_unbounded_columns_stay_as_they_are():
    box = spaces.Box(np.array([-np.inf, -1.0]), np.array([np.inf, 1.0]), dtype=np.float64)
    np.testing.assert_allclose(StateSpace.of(box).encode(np.array([37.5, 0.0])), [[37.5, 0.5]])


@pytest.mark.parametrize("bound", [np.inf, 3.4e38, 1e12])
def test_bounds_that_mean_nothing_are_none(bound):
    states = StateSpace.of(spaces.Box(-bound, bound, (2,), np.float64))
    assert not states.bounded.any()
    np.testing.assert_array_equal(states.encode(np.array([3.0, -7.0])), [[3.0, -7.0]])


def test_angles_half_a_turn_apart_are_far_and_a_whole_turn_apart_are_equal():
    states = StateSpace.of(spaces.Box(-100.0, 100.0, (2,), np.float64), {0: 24.0})
    midnight, noon, next_midnight = states.encode_many(np.array([[0.0, 1.0], [12.0, 1.0], [24.0, 1.0]]))
    assert np.linalg.norm(midnight - noon) == pytest.approx(1.0)
    np.testing.assert_allclose(midnight, next_midnight, atol=1e-12)
    quarter = states.encode(np.array([6.0, 1.0]))[0]
    assert np.linalg.norm(midnight - quarter) == pytest.approx(np.sqrt(0.5))  # chord of a quarter of a circle


@pytest.mark.parametrize("angles", [[2], ["elbow"], "0", 3, {0: 0.0}, {0: "day"}, {"gear": 1.0}, [-1]], ids=str)
def test_angles_that_are_not_there_are_refused(angles):
    space = spaces.Dict({"x": spaces.Box(-1.0, 1.0, (1,)), "gear": spaces.Discrete(2)})
    with pytest.raises(InputError, match="angle"):
        StateSpace.of(space, angles)
