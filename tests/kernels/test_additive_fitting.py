"""Additive kernels: evidence against a dense Gaussian density, gradient against differences, what they find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from cmerl.kernels import RBF, Matern
from cmerl.kernels.additive_fitting import AdditiveFit, fit_additive, log_evidence
from cmerl.kernels.fitting import fit, squared_differences

THETA = np.log([0.7, 1.5, 2.0, 3.0, 0.05])  # lengthscales of two columns and of an action, weight, ridge


def data(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distance to a spot, and a cost of the action."""
    rng = np.random.default_rng(seed)
    S, A = rng.normal(size=(n, 2)), rng.uniform(-2, 2, (n, 1))
    y = -np.linalg.norm(S, axis=1) - A[:, 0] ** 2
    return S, A, (y - y.mean()) / y.std()


def test_the_evidence_is_the_gaussian_density_at_the_likeliest_variance() -> None:
    S, A, y = data()
    value, _ = log_evidence(THETA, squared_differences(S), squared_differences(A), y)
    C = Matern(1.5, (0.7, 1.5))(S, S) + 3.0 * RBF(2.0)(A, A) + 0.05 * np.eye(len(y))
    density = multivariate_normal(cov=y @ np.linalg.solve(C, y) / len(y) * C).logpdf(y)
    assert value == pytest.approx(density + 0.5 * len(y) * (1 + np.log(2 * np.pi)), abs=1e-8)


def test_the_gradient_is_that_of_the_value() -> None:
    S, A, y = data()
    about, h = (squared_differences(S), squared_differences(A), y), 1e-5
    _, gradient = log_evidence(THETA, *about)
    for j, step in enumerate(h * np.eye(5)):
        difference = log_evidence(THETA + step, *about)[0] - log_evidence(THETA - step, *about)[0]
        assert gradient[j] == pytest.approx(difference / (2 * h), rel=1e-5, abs=1e-6)


def test_a_sum_with_a_cusp_is_likelier_by_it_and_a_product_is_not() -> None:
    S, A, y = data(120)
    additive = fit_additive(S, A, y, lengthscale=2.0, most_steps=30)
    assert additive.evidence > fit(np.hstack([S, A]), y[:, None], most_steps=30).evidence + 20
    y = np.sin(S[:, 0] * A[:, 0])
    y = (y - y.mean()) / y.std()
    additive = fit_additive(S, A, y, lengthscale=2.0, most_steps=30)
    assert additive.evidence < fit(np.hstack([S, A]), y[:, None], most_steps=30).evidence - 20


def test_a_fit_comes_back_from_its_arrays() -> None:
    found = AdditiveFit(np.array([1.0, 2.0]), np.array([3.0]), 4.0, 0.1, -5.0)
    again = AdditiveFit.from_arrays(found.arrays())
    assert again.arrays().keys() == found.arrays().keys()
    assert all(np.array_equal(again.arrays()[name], array) for name, array in found.arrays().items())
