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
    caution = Caution(steps=5, samples=3000, inflation=1.0, tail=1.0, risk=1.0, rows=900, unknown=1.0)
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
    caution = Caution(steps=1, samples=20_000, inflation=2.0, tail=1.0, risk=1.0, unknown=1.0)
    forecast = Forecast.of(*transitions(60, 0), caution)
    state, action = np.array([0.2, 0.35]), np.array([1.0])
    mean, unseen, standard_error = forecast.step(state[None], action[None])
    error = np.hypot(caution.inflation * forecast.amplitudes[1] * np.sqrt(unseen[0, 1]), standard_error[0, 1])
    bound = float(mean[0, 1]) + 0.02
    found = forecast.paths(state, action, follow, lambda rows: rows[:, 1] <= bound, caution, np.random.default_rng(1))
    exact = norm.sf(0.02 / np.hypot(error, forecast.noises[1]))
    assert (found.states[: caution.samples, 1, 1] > bound).mean() == pytest.approx(exact, abs=0.015)


def test_expected_paths_follow_the_law():
    caution = Caution(steps=8, samples=2, rows=300)
    forecast = Forecast.of(*transitions(300, 0), caution)
    mean, unseen, _ = forecast.step(np.array([[0.3, -0.2]]), np.array([[0.5]]))
    np.testing.assert_allclose(mean[0], A @ [0.3, -0.2] + 0.5 * B, atol=0.01)
    assert unseen.max() < 0.05
    np.testing.assert_allclose(forecast.noises, NOISE, rtol=0.3)


def test_nothing_is_known_far_outside_of_what_was_seen():
    caution = Caution()
    forecast = Forecast.of(*transitions(200, 0, spread=0.1), caution)
    _, here, _ = forecast.step(np.array([[0.0, 0.0]]), np.array([[0.0]]))
    _, there, _ = forecast.step(np.array([[3.0, 0.0]]), np.array([[0.0]]))
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
    mean, unseen, standard_error = forecast.step(np.array([[9.0, 0.0]]), np.array([[0.0]]))
    assert mean[0, 0] == 9.0
    assert unseen[0, 0] == standard_error[0, 0] == 0.0


def test_a_forecast_is_a_function_of_the_log():
    """Made at once, or with lengthscales kept from forecasts of its beginnings."""
    data, kept = transitions(150, 3), {}
    for n in (20, 25, 39, 60, 150):
        last = Forecast.of(*(part[:n] for part in data), Caution(), kept)
    again = Forecast.of(*data, Caution())
    assert list(kept) == [20, 40, 80]  # refitted when the data have doubled
    query = np.array([[0.1, 0.2]]), np.array([[0.3]])
    np.testing.assert_array_equal(last.step(*query)[0], again.step(*query)[0])


# --- noise and ignorance, in s' = 0.9 s + 0.1 a + noise ---


def line(n, noise, seed):
    rng = np.random.default_rng(seed)
    states, actions = rng.normal(size=(n, 1)), rng.uniform(-1, 1, (n, 1))
    return states, actions, 0.9 * states + 0.1 * actions + noise * rng.normal(size=(n, 1))


def pull(rows, k):
    return -rows


@pytest.mark.parametrize("noise", [0.003, 0.03, 0.3, 0.6])
@pytest.mark.parametrize("level", [0.05, 0.95])
def test_quantiles_are_those_of_the_normal_law(noise, level):
    """From s the fallback a = −s leads to 0.8 s: five steps have mean 0.8⁴ (0.9 s + 0.1 a) and a known variance."""
    caution = Caution(steps=5, samples=4000, tail=1.0, risk=1.0, unknown=1.0, rows=400, fit_rows=200)
    forecast = Forecast.of(*line(400, noise, 0), caution)
    paths = forecast.paths(np.array([0.2]), np.array([0.5]), pull, everything, caution, np.random.default_rng(1))
    mean, sigma = 0.8**4 * (0.9 * 0.2 + 0.1 * 0.5), noise * np.sqrt(sum(0.64**k for k in range(5)))
    found = np.quantile(paths.states[: caution.samples, -1, 0], level)
    assert found == pytest.approx(norm.ppf(level, mean, sigma), abs=0.25 * sigma)  # the law is estimated


@pytest.mark.parametrize("noise", [0.003, 0.3, 3.0])
def test_noise_is_found_without_bias_from_few_transitions(noise):
    found = [Forecast.of(*line(30, noise, seed), Caution()).noises[0] for seed in range(30)]
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(noise, rel=0.12)


@pytest.mark.parametrize("noise", [0.003, 0.3, 1.0])
def test_what_was_sampled_well_is_known_whatever_the_noise(noise):
    """And what was not sampled is not: noise does not say where data are."""
    forecast = Forecast.of(*line(60, noise, 0), Caution())
    places = np.array([[-1.2], [0.0], [1.2]]), np.array([[0.7], [0.0], [0.7]])
    assert forecast.step(*places).unseen.max() < Caution().unknown
    assert forecast.step(np.array([[9.0]]), np.array([[0.0]])).unseen[0, 0] > 0.5


def test_both_parts_of_the_error_are_the_posterior_variance():
    """scikit-learn's Gaussian process, with the kernel that was fitted, has their sum."""
    gp = pytest.importorskip("sklearn.gaussian_process")
    states, actions, nexts = line(60, 0.3, 2)
    forecast = Forecast.of(states, actions, nexts, Caution())
    (column,) = forecast.columns
    Z = (np.hstack([states, actions]) - forecast.centre) / forecast.scale
    kernel = gp.kernels.RBF(column.scales)
    theirs = gp.GaussianProcessRegressor(kernel, alpha=column.ridge, optimizer=None).fit(Z, (nexts - states)[:, 0])
    query = np.linspace(-4, 4, 9)[:, None]
    found = forecast.step(query, np.zeros((9, 1)))
    _, std = theirs.predict(
        (np.hstack([query, np.zeros((9, 1))]) - forecast.centre) / forecast.scale, return_std=True
    )
    ours = found.unseen[:, 0] + column.ridge * (found.standard_error[:, 0] / column.noise) ** 2
    np.testing.assert_allclose(ours, std**2, atol=1e-6)


def test_actions_that_were_never_varied_are_known_nearby_only():
    states, actions, _ = line(100, 0.3, 0)
    still = Forecast.of(states, 0.0 * actions, 0.9 * states + 0.3 * actions, Caution())
    near, far = still.step(np.zeros((2, 1)), np.array([[0.02], [0.5]])).unseen[:, 0]
    assert near < Caution().unknown < 0.9 < far


# --- paths ---


def drawn(**options):
    """Paths of a forecast from few transitions, none of which is broken off."""
    caution = Caution(steps=4, samples=400, risk=1.0, unknown=1.0, **options)
    forecast = Forecast.of(*line(30, 0.3, 0), caution)
    inside = lambda rows: rows[:, 0] <= 0.6  # noqa: E731
    start = np.array([0.2]), np.array([0.5])
    return forecast, start, forecast.paths(*start, pull, inside, caution, np.random.default_rng(1))


@pytest.mark.parametrize("tail", [0.0, 1.0, 3.0])
def test_noise_is_drawn_as_many_times_larger_as_the_tail_says(tail):
    forecast, _, found = drawn(tail=tail)
    noisy, plain = np.split(found.states, 2)
    assert (noisy - plain)[:, 1, 0].std() == pytest.approx(tail * forecast.noises[0], rel=0.1)


def test_a_path_has_left_if_it_did_so_with_noise_or_without():
    _, _, found = drawn()
    noisy, plain = np.split((found.states[:, 1:, 0] > 0.6).any(axis=1), 2)
    assert (noisy & ~plain).any()
    assert (plain & ~noisy).any()
    np.testing.assert_array_equal(found.left, noisy | plain)


def test_one_path_without_noise_is_what_is_expected():
    forecast, (state, action), found = drawn()
    expected = [state]
    for k in range(4):
        here = expected[-1][None]
        expected.append(forecast.step(here, pull(here, k) if k else action[None]).mean[0])
    np.testing.assert_allclose(np.split(found.states, 2)[1][0], expected)


@pytest.mark.parametrize("hidden", [0.5, 2.0])
def test_a_process_that_noise_hides_is_taken_to_be_that_large(hidden):
    """There is no signal at all: the ridge is noise² over the least that a signal may have."""
    states, actions, noise = (np.random.default_rng(seed).normal(size=(60, 1)) for seed in range(3))
    forecast = Forecast.of(states, actions, states + noise, Caution(hidden=hidden))
    assert forecast.columns[0].ridge == pytest.approx(hidden**-2)


def test_a_process_that_winds_has_a_short_lengthscale():
    """Where data say so; the action, which does nothing, keeps a long one."""
    rng = np.random.default_rng(0)
    states, actions = rng.normal(size=(100, 1)), rng.uniform(-1, 1, (100, 1))
    nexts = states + 0.2 * np.sin(4.0 * states) + 0.02 * rng.normal(size=(100, 1))
    (column,) = Forecast.of(states, actions, nexts, Caution()).columns
    assert column.scales[0] < 0.7
    assert column.scales[1] == Caution().reach


def test_the_latest_transitions_are_kept_however_alike():
    states, actions, nexts = line(200, 0.3, 0)
    states[-10:] = 0.01 * states[-10:]
    forecast = Forecast.of(states, actions, nexts, Caution(rows=30))
    (column,) = forecast.columns
    Z = (np.hstack([states, actions]) - forecast.centre) / forecast.scale / column.scales
    assert len(column.Z) <= 30
    np.testing.assert_array_equal(column.Z[-10:], Z[-10:])
    assert np.ptp(column.Z[:, 0]) == np.ptp(Z[:, 0])  # and what differs most
