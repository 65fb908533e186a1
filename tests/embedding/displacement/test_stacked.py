"""Regressions that are read together: against a dense Gaussian process, single precision, actions, collisions."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.displacement.settings import OutlierSettings, RidgeSettings
from cmerl.embedding.displacement.stacked import StackedRegression
from cmerl.kernels import RBF
from cmerl.kernels.fitting import Fit

FITS = [Fit(np.array([0.8, 1.5, 3.0]), 0.05, 0.0), None, Fit(np.array([2.0, 0.9, 1.1]), 0.01, 0.0)]


def data(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.stack([np.sin(2 * X[:, 0]), np.full(n, 4.0), X[:, 1] * X[:, 2]], axis=1)
    return X, Y


def dense(X: np.ndarray, y: np.ndarray, fit: Fit, at: np.ndarray) -> np.ndarray:
    """The mean of a Gaussian process."""
    k = RBF(tuple(fit.lengthscales))
    return y.mean() + k(at, X) @ np.linalg.solve(k(X, X) + fit.ridge * np.eye(len(X)), y - y.mean())


def test_with_all_points_as_centres_it_is_a_gaussian_process_for_each_output() -> None:
    X, Y = data()
    at = np.random.default_rng(1).normal(size=(20, 3))
    narrow = [Fit(np.array([0.3, 0.4, 0.5]), 0.05, 0.0), None, Fit(np.array([0.5, 0.3, 0.3]), 0.01, 0.0)]
    found = StackedRegression(X, Y, narrow, 60)
    assert found.size == 120  # of such kernels none follows from the others
    for j, fit in enumerate(narrow):
        expected = np.full(20, 4.0) if fit is None else dense(X, Y[:, j], fit, at)
        np.testing.assert_allclose(found(at)[:, j], expected, atol=1e-6)
    np.testing.assert_allclose(found.quick(at.astype(np.float32)), found(at), atol=2e-3)


def test_actions_factor_out() -> None:
    X, Y = data()
    found = StackedRegression(X, Y, FITS, 60)
    actions, states = np.array([[-1.0], [0.5]]), np.random.default_rng(2).normal(size=(7, 2))
    both = found.of_actions(actions)
    own = np.stack([states, states + 0.1])
    for a, action in enumerate(actions):
        for asked, given in ((both(states)[a], states), (both(own)[a], own[a])):
            np.testing.assert_allclose(
                asked, found(np.hstack([given, np.repeat(action[None], 7, axis=0)])), atol=1e-4
            )


def test_residuals_are_those_of_rows_left_out() -> None:
    X, Y = data(40)
    fit = Fit(np.array([2.0, 3.0, 3.0]), 0.5, 0.0)
    found = StackedRegression(X, Y[:, :1], [fit], 40)
    y = Y[:, 0] - Y[:, 0].mean()  # the mean is not refitted
    for i in (3, 17):
        others = np.arange(40) != i
        k = RBF(tuple(fit.lengthscales))
        alpha = np.linalg.solve(k(X[others], X[others]) + fit.ridge * np.eye(39), y[others])
        left = y[i] - (k(X[[i]], X[others]) @ alpha)[0]
        assert found.residuals[i, 0] == pytest.approx(left, abs=2e-3)


def test_a_collision_is_left_out_and_noise_is_not() -> None:
    X, Y = data(200)
    hit = Y.copy()
    hit[11, 0] += 40.0
    fits = [Fit(np.array([0.8, 5.0, 5.0]), 1e-4, 0.0), None, None]
    at = X[:50] + 0.01
    clean, robust, plain = (
        StackedRegression(X, y, fits, 100, leave_out=rule)(at)[:, 0]
        for y, rule in ((Y, OutlierSettings()), (hit, OutlierSettings()), (hit, None))
    )
    assert np.abs(robust - clean).max() < 0.05 < np.abs(plain - clean).max()
    noisy = Y + 0.5 * np.random.default_rng(3).normal(size=Y.shape)
    assert not StackedRegression(X, noisy, fits, 100, leave_out=OutlierSettings()).dropped.any()


def test_what_collides_in_one_column_is_left_out_of_all() -> None:
    """A blow that is seen in a velocity moves the position too, by less than positions vary."""
    X, Y = data(200)
    fits = [Fit(np.array([0.8, 5.0, 5.0]), 1e-4, 0.0), None, Fit(np.array([3.0, 3.0, 3.0]), 1e-4, 0.0)]
    hit = Y.copy()
    hit[11] += [40.0, 0.0, 1.0]
    at = X[:50] + 0.01
    clean, both = (StackedRegression(X, y, fits, 100, leave_out=OutlierSettings()) for y in (Y, hit))
    np.testing.assert_array_equal(np.flatnonzero(both.dropped), [11])
    assert both.residuals[11].tolist() == [0.0, pytest.approx(0.0), 0.0]
    assert np.abs(both(at) - clean(at)).max() < 0.05
    hit[11, 0] = Y[11, 0]  # alone, it is no outlier
    assert not StackedRegression(X, hit, fits, 100, leave_out=OutlierSettings()).dropped.any()


def test_smooth_kernels_with_a_small_ridge_are_solved_exactly() -> None:
    """With normal equations of kernels, a nugget that factorises them is a ridge of its own: 0.008."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.5, 1.5, size=(300, 2))
    y = np.sin(X[:, :1]) * X[:, 1:]
    fit, at = Fit(np.array([2.0, 2.0]), 1e-6, 0.0), rng.uniform(-1.5, 1.5, size=(50, 2))
    found = StackedRegression(X, y, [fit], 200)(at)[:, 0]
    np.testing.assert_allclose(found, np.sin(at[:, 0]) * at[:, 1], atol=1e-3)


def test_the_ridge_is_chosen_by_what_was_left_out_whatever_the_fit_says() -> None:
    X, Y = data(200)
    kernel = Fit(np.array([0.5, 0.5, 0.5]), 1e-6, 0.0)
    noisy = Y[:, :1] + 0.5 * np.random.default_rng(6).normal(size=(200, 1))
    at = np.random.default_rng(7).normal(size=(100, 3))
    given, chosen = (StackedRegression(X, noisy, [kernel], 100, ridges=rule) for rule in (None, RidgeSettings()))
    fits = given.fits[0], chosen.fits[0]
    assert fits[0] is not None
    assert fits[1] is not None
    assert (fits[0].ridge, fits[1].ridge > 0.1) == (1e-6, True)
    missed = [np.abs(found(at)[:, 0] - np.sin(2 * at[:, 0])).mean() for found in (given, chosen)]
    assert missed[1] < 0.8 * missed[0]


def test_far_from_all_data_the_prior_is_predicted() -> None:
    """Also by what searches and plans ask: in single precision, and for all actions at once."""
    rng = np.random.default_rng(5)
    Z, y = rng.uniform(size=(30, 2)), rng.normal(size=(30, 1))
    fits = [Fit(np.array([0.3, 0.3]), 0.01, 0.0)]
    far = np.array([[50.0, 0.5]])
    for prior, expected in ((None, y.mean()), (y.min(axis=0), y.min())):
        found = StackedRegression(Z, y, fits, 30, prior=prior)
        assert found(far)[0, 0] == pytest.approx(expected)
        assert found.quick(far.astype(np.float32))[0, 0] == pytest.approx(expected)
        assert found.of_actions(np.array([[0.5]]))(far[:, :1])[0, 0, 0] == pytest.approx(expected)
    K = RBF(0.3)(Z, Z.copy())  # with any prior it is that of a Gaussian process
    wanted = y.min() + RBF(0.3)(far - 49.5, Z) @ np.linalg.solve(K + 0.01 * np.eye(30), y - y.min())
    assert found(far - 49.5) == pytest.approx(wanted, abs=1e-4)
