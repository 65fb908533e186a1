"""Kernel smoothing: sums over all data written out, at the data themselves and at representatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.smoothing import Smoother


def data(n: int = 25) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """States on a line (some equal), two actions, rewards, next states (−1 ends the episode)."""
    rng = np.random.default_rng(0)
    states = rng.integers(6, size=(n, 1)) / 5.0
    return states, rng.integers(2, size=n), rng.normal(size=n), rng.integers(-1, 3, size=n)


def by_hand(x: float, action: int, since: int, v: np.ndarray, terminal: float) -> tuple[float, float]:
    """(Σw(r + V(s')))/C and C = β + Σw with β = 0.2 and bandwidth 0.3, over the data from ``since`` on."""
    total, weight = 0.0, 0.2
    for state, a, reward, nxt in list(zip(*data(), strict=True))[since:]:
        if a == action:
            w = math.exp(-((x - state[0]) ** 2) / (2 * 0.3**2))
            weight += w
            total += w * (reward + (terminal if nxt < 0 else v[nxt]))
    return total / weight, weight


V = np.array([1.0, -0.5, 2.0])


@pytest.mark.parametrize("parts", [1, 7])
def test_estimates_at_the_data_are_sums_over_all_of_them(parts: int) -> None:
    columns = data()
    smoother = Smoother(2, 1, 0.3)
    for part in np.array_split(np.arange(25), parts):
        smoother.add(*(column[part] for column in columns))
    model = smoother.freeze(0.2)
    for action in (0, 1):
        mine = columns[0][columns[1] == action, 0]
        points = model.points[action][:, 0]
        assert sorted(points) == sorted(set(mine))  # equal states are one point
        want = [by_hand(x, action, 0, V, -0.7) for x in points]
        np.testing.assert_allclose(model.expectation(action, V, -0.7), [mean for mean, _ in want])
        np.testing.assert_allclose(model.weights[action], [weight for _, weight in want])


def test_a_representative_knows_what_came_after_it() -> None:
    columns = data()
    smoother = Smoother(2, 1, 0.3, representatives=True)
    smoother.represent(np.array([[0.1]]))
    smoother.add(*(column[:10] for column in columns))
    smoother.represent(np.array([[0.1], [0.8]]))
    smoother.add(*(column[10:] for column in columns))
    model = smoother.freeze(0.2)
    for action in (0, 1):
        want = [by_hand(0.1, action, 0, V, -0.7)[0], by_hand(0.8, action, 10, V, -0.7)[0]]
        np.testing.assert_allclose(model.expectation(action, V, -0.7), want)


def test_a_frozen_model_does_not_follow_and_points_without_weight_are_left_out() -> None:
    columns = data()
    smoother = Smoother(2, 1, 0.3, representatives=True)
    smoother.represent(np.array([[0.1], [1e6]]))
    smoother.add(*columns)
    model = smoother.freeze(0.2)
    before = model.expectation(0, V, 0.0)
    assert model.points[0].tolist() == [[0.1]]
    smoother.add(*columns)
    np.testing.assert_array_equal(model.expectation(0, V, 0.0), before)
