"""Marginal likelihood: value against a dense Gaussian density, gradient against differences, what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from cmerl.kernels import RBF
from cmerl.kernels.fitting import fit, log_evidence, squared_differences


def data(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1]], axis=1) + 0.1 * rng.normal(size=(n, 2))
    return X, (Y - Y.mean(axis=0)) / Y.std(axis=0)


def test_the_evidence_is_the_gaussian_density_at_the_likeliest_variance() -> None:
    X, Y = data()
    lengthscales, ridge = np.array([0.7, 1.5, 3.0]), 0.05
    value, _ = log_evidence(np.log([*lengthscales, ridge]), squared_differences(X), Y)
    C = RBF(tuple(lengthscales))(X, X) + ridge * np.eye(len(X))
    densities = []
    for y in Y.T:
        variance = y @ np.linalg.solve(C, y) / len(y)
        densities.append(multivariate_normal(cov=variance * C).logpdf(y))
    constant = -0.5 * Y.size * (1 + np.log(2 * np.pi))
    assert value == pytest.approx(sum(densities) - constant, abs=1e-8)


def test_the_gradient_is_that_of_the_value() -> None:
    X, Y = data()
    squares, theta, h = squared_differences(X), np.log([0.7, 1.5, 3.0, 0.05]), 1e-5
    _, gradient = log_evidence(theta, squares, Y)
    for j, step in enumerate(h * np.eye(4)):
        difference = log_evidence(theta + step, squares, Y)[0] - log_evidence(theta - step, squares, Y)[0]
        assert gradient[j] == pytest.approx(difference / (2 * h), rel=1e-5, abs=1e-6)


def test_columns_that_do_not_matter_get_long_lengthscales_and_noise_its_ridge() -> None:
    X, Y = data(150)
    found = fit(X, Y)
    assert found.lengthscales[2] > 5 * found.lengthscales[0]
    assert 1e-4 < found.ridge < 0.1
    clean = fit(X, np.sin(2 * X[:, :1]))
    assert clean.ridge < found.ridge / 20
