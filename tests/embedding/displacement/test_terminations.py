"""Where episodes end: limits found from few ends, and the nearest neighbour where there are none; what ends pay."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.displacement.terminations import find_limits
from cmerl.embedding.displacement.terminations import terminations as of_centres
from cmerl.searching.simulator import Ends


def terminations(ended: np.ndarray, rewards: np.ndarray, alive: np.ndarray) -> Ends:
    return of_centres(ended, rewards, alive, centres=50, ridge=0.01)


def test_ends_beyond_one_coordinate_make_one_limit_on_each_side() -> None:
    rng = np.random.default_rng(0)
    alive = rng.uniform(-1, 1, size=(300, 3))
    ended = np.array([[1.05, 0.2, 1.4], [1.1, -0.3, 0.1], [-1.02, 0.5, 0.6]])  # the third column explains only one
    endings = terminations(ended, np.array([1.0, 2.0, 3.0]), alive)
    flags, rewards = endings(np.array([[1.04, 0.0, 0.0], [-1.2, 0.9, 0.9], [0.0, 0.0, 1.5], [0.9, 0.2, 0.1]]))
    assert flags.tolist() == [True, True, False, False]
    assert rewards[1] == pytest.approx(3.0, abs=0.1)


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
    assert rewards[0] == pytest.approx(4.0, abs=0.1)
    assert rewards[1] == 2.0  # far away a trend counts for as much again as the ends differ by, and no more


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


def test_ends_that_paid_the_same_pay_that_everywhere() -> None:
    ended = np.array([[2.0, 0.1], [2.2, -0.4], [-2.0, 0.3]])
    flags, rewards = terminations(ended, np.full(3, -7.0), np.zeros((5, 2)))(np.array([[9.0, 9.0], [-3.0, 3.0]]))
    assert flags.all()
    assert rewards.tolist() == [-7.0, -7.0]


def test_a_trend_of_what_ends_paid_goes_on_to_ends_that_no_episode_has_reached() -> None:
    """A landing is paid by its speed, and all that were seen were crashes."""
    rng = np.random.default_rng(0)
    speed = rng.uniform(-3.0, -1.5, 6)
    ended, alive = np.column_stack([np.full(6, -2.0), speed]), np.column_stack([np.linspace(-1.5, 3.0, 6), speed])
    flags, rewards = terminations(ended, 10.0 + 5.0 * speed, alive)(np.array([[-2.0, -1.2], [-2.0, -0.2]]))
    assert flags.all()
    assert rewards[0] == pytest.approx(4.0, abs=1.0)  # the nearest end paid 5·(−1.5) + 10 at most, 2.5
    assert rewards[0] + 1.0 < rewards[1] <= 10.0


def test_what_ends_pay_is_a_ridge_regression_on_a_linear_and_an_rbf_kernel() -> None:
    """The dual against the primal: linear features, and random waves that stand for the other kernel."""
    rng = np.random.default_rng(1)
    ended, paid, ridge = rng.normal(size=(12, 2)), rng.normal(size=12), 0.01
    y = ended + 0.2 * rng.normal(size=(12, 2))
    W, b, centre = rng.normal(size=(2, 60_000)), rng.uniform(0.0, 2.0 * np.pi, 60_000), ended.mean(axis=0)

    def features(points: np.ndarray) -> np.ndarray:
        waves = np.sqrt(2.0 / W.shape[1]) * np.cos(points @ W + b)
        return np.hstack([points - centre, waves])

    F = features(ended)
    primal = F.T @ np.linalg.solve(F @ F.T + ridge * np.eye(12), paid - paid.mean())
    expected = np.clip(paid.mean() + features(y) @ primal, 2 * paid.min() - paid.max(), 2 * paid.max() - paid.min())
    _, found = of_centres(ended, paid, np.full((1, 2), 99.0), centres=50, ridge=ridge)(y)
    np.testing.assert_allclose(found, expected, atol=0.1)
