"""Where episodes end: limits found from few ends, and the nearest neighbour where there are none."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.displacement.terminations import find_limits
from cmerl.embedding.displacement.terminations import terminations as of_centres
from cmerl.searching.simulator import Ends


def terminations(ended: np.ndarray, rewards: np.ndarray, alive: np.ndarray) -> Ends:
    return of_centres(ended, rewards, alive, centres=50)


def test_ends_beyond_one_coordinate_make_one_limit_on_each_side() -> None:
    rng = np.random.default_rng(0)
    alive = rng.uniform(-1, 1, size=(300, 3))
    ended = np.array([[1.05, 0.2, 1.4], [1.1, -0.3, 0.1], [-1.02, 0.5, 0.6]])  # the third column explains only one
    endings = terminations(ended, np.array([1.0, 2.0, 3.0]), alive)
    flags, rewards = endings(np.array([[1.04, 0.0, 0.0], [-1.2, 0.9, 0.9], [0.0, 0.0, 1.5], [0.9, 0.2, 0.1]]))
    assert flags.tolist() == [True, True, False, False]
    assert rewards.tolist()[1] == 3.0


def test_a_limit_lies_halfway_between_the_last_survivor_and_the_first_end() -> None:
    alive = np.array([[-1.0], [0.0], [1.0]])
    ended = np.array([[2.0], [5.0], [-3.0], [-9.0]])  # halfway: −2 and 1.5
    flags, _ = terminations(ended, np.zeros(4), alive)(np.array([[-2.1], [-1.9], [1.4], [1.6]]))
    assert flags.tolist() == [True, False, False, True]


def test_directions_that_cannot_be_told_apart_must_all_be_crossed() -> None:
    alive = np.array([[0.0, 0.0], [1.0, 1.0]])
    endings = terminations(np.array([[2.0, 3.0]]), np.zeros(1), alive)
    assert endings(np.array([[1.8, 2.5], [1.8, 0.5], [0.5, 2.5]]))[0].tolist() == [True, False, False]


def test_of_what_is_left_to_explain_too_all_directions_that_explain_it_must_be_crossed() -> None:
    alive = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    ended = np.array([[2.0, 2.0, 0.5], [2.0, 0.5, 0.5], [0.5, 2.0, 2.0]])  # x explains two; y and z the third alike
    flags, _ = terminations(ended, np.zeros(3), alive)(np.array([[2.0, 0.5, 0.5], [0.5, 2.0, 0.5], [0.5, 2.0, 2.0]]))
    assert flags.tolist() == [True, False, True]


def test_where_nothing_has_survived_everything_ends() -> None:
    flags, rewards = terminations(np.array([[0.0], [1.0]]), np.array([3.0, 4.0]), np.zeros((0, 1)))(
        np.array([[0.9], [-9.0]])
    )
    assert flags.tolist() == [True, True]
    assert rewards.tolist() == [4.0, 3.0]


def test_ends_in_the_middle_are_told_by_the_nearest_neighbour() -> None:
    alive = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    ended = np.array([[0.1, 0.0]])
    assert find_limits(ended, alive) is None
    flags, rewards = terminations(ended, np.array([5.0]), alive)(np.array([[0.0, 0.1], [0.9, 0.9]]))
    assert flags.tolist() == [True, False]
    assert rewards[0] == 5.0


def test_survivors_are_kept_spread_as_widely_as_they_are_where_there_are_no_limits() -> None:
    rng = np.random.default_rng(0)
    alive = np.vstack([rng.normal(0.0, 0.01, (300, 2)), [[-3.0, -3.0], [3.0, 3.0]]])
    found = terminations(np.array([[0.5, 0.5]]), np.zeros(1), alive)
    assert len(found.alive) == 50
    assert {(-3.0, -3.0), (3.0, 3.0)} <= set(map(tuple, found.alive.tolist()))
    assert not len(terminations(np.array([[9.0, 9.0]]), np.zeros(1), alive).alive)  # limits need none
