"""Forecasts, against a linear law that is known."""

import numpy as np
import pytest
from scipy.stats import norm

from cmerl.safety import Caution, Forecast

A = np.array([[0.95, 0.05], [-0.05, 0.95]])
B = np.array([0.0, 0.1])
NOISE = 0.02


def transitions(n, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    states, actions = spread * rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (n, 1))
    return states, actions, states @ A.T + actions * B + NOISE * rng.normal(size=(n, 2))


def follow(rows, k):
    """A controller that pushes back."""
    return np.clip(-rows[:, 1:], -1.0, 1.0)


def everything(rows):
    return np.ones(len(rows), dtype=bool)


@pytest.mark.parametrize("bound", [0.43, 0.46, 0.55])
def test_the_share_of_paths_that_leave_is_the_probability_by_simulation(bound):
    """With data enough that nothing but the noise is open, paths are paths of the true law."""
    caution = Caution(steps=5, samples=3000, inflation=1.0, risk=1.0, rows=900, unknown=1.0)
    forecast = Forecast.of(*transitions(900, 0), caution)
    state, action = np.array([0.2, 0.35]), np.array([1.0])
    inside = lambda rows: rows[:, 1] <= bound  # noqa: E731
    found = forecast.paths(state, action, follow, inside, caution, np.random.default_rng(1))

    rng = np.random.default_rng(2)
    x, left = np.repeat(state[None], 40_000, axis=0), np.zeros(40_000, dtype=bool)
    for k in range(5):
        actions = np.repeat(action[None], len(x), axis=0) if k == 0 else follow(x, k)
        x = x @ A.T + actions * B + NOISE * rng.normal(size=x.shape)
        left |= ~inside(x)
    assert found.left.mean() == pytest.approx(left.mean(), abs=0.1)  # the law is estimated


def test_one_step_leaves_with_the_probability_of_its_normal_law():
    caution = Caution(steps=1, samples=20_000, inflation=2.0, risk=1.0, unknown=1.0)
    forecast = Forecast.of(*transitions(60, 0), caution)
    state, action = np.array([0.2, 0.35]), np.array([1.0])
    mean, doubt = forecast.step(state[None], action[None])
    error = caution.inflation * forecast.amplitudes[1] * np.sqrt(doubt[0, 1])
    bound = float(mean[0, 1]) + 0.02
    found = forecast.paths(state, action, follow, lambda rows: rows[:, 1] <= bound, caution, np.random.default_rng(1))
    exact = norm.sf(0.02 / np.hypot(error, forecast.noises[1]))
    assert found.left.mean() == pytest.approx(exact, abs=0.015)


def test_expected_paths_follow_the_law():
    caution = Caution(steps=8, samples=2, rows=300)
    forecast = Forecast.of(*transitions(300, 0), caution)
    mean, doubt = forecast.step(np.array([[0.3, -0.2]]), np.array([[0.5]]))
    np.testing.assert_allclose(mean[0], A @ [0.3, -0.2] + 0.5 * B, atol=0.01)
    assert doubt.max() < 0.05
    np.testing.assert_allclose(forecast.noises, NOISE, rtol=0.3)


def test_nothing_is_known_far_outside_of_what_was_seen():
    caution = Caution()
    forecast = Forecast.of(*transitions(200, 0, spread=0.1), caution)
    _, here = forecast.step(np.array([[0.0, 0.0]]), np.array([[0.0]]))
    _, there = forecast.step(np.array([[3.0, 0.0]]), np.array([[0.0]]))
    assert here.max() < caution.unknown < 0.9 < there.max()
    found = forecast.paths(
        np.array([3.0, 0.0]), np.array([0.0]), follow, everything, caution, np.random.default_rng(0)
    )
    assert found.lost.all()


def test_too_few_transitions_say_nothing():
    assert Forecast.of(*transitions(9, 0), Caution()) is None


def test_a_column_that_stands_still_stays():
    states, actions, nexts = transitions(60, 0)
    nexts[:, 0] = states[:, 0]
    forecast = Forecast.of(states, actions, nexts, Caution())
    mean, doubt = forecast.step(np.array([[9.0, 0.0]]), np.array([[0.0]]))
    assert mean[0, 0] == 9.0
    assert doubt[0, 0] == 0.0


def test_a_forecast_is_a_function_of_the_log():
    """Made at once, or with lengthscales kept from forecasts of its beginnings."""
    data, kept = transitions(150, 3), {}
    for n in (20, 60, 150):
        last = Forecast.of(*(part[:n] for part in data), Caution(), kept)
    again = Forecast.of(*data, Caution())
    query = np.array([[0.1, 0.2]]), np.array([[0.3]])
    np.testing.assert_array_equal(last.step(*query)[0], again.step(*query)[0])
