"""Fitted Q evaluation against independent derivations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve

from cmerl.agents.evaluation.fitted_q import EvaluationSettings, Steps, regress
from cmerl.kernels.fitting import Fit

SETTINGS = EvaluationSettings()
SHAPE = Fit(np.array([0.8, 1.2]), 0.05, 0.0)


def some_steps(n: int = 25) -> Steps:
    rng = np.random.default_rng(0)
    after = [rng.normal(size=(n, 2)) for _ in range(4)]
    alive = (rng.uniform(size=n) > 0.2).astype(float)
    return Steps(
        rng.normal(size=(n, 2)), rng.normal(size=n), alive, lambda step: after[step], rng.normal(size=(3, 2))
    )


def test_influences_are_derivatives_by_the_weights_of_transitions() -> None:
    steps, e = some_steps(), 1e-3
    found, _ = regress(steps, 4, SHAPE, SETTINGS)
    for i in (0, 7, 24):
        both = [regress(steps, 4, SHAPE, SETTINGS, 1.0 + sign * e * np.eye(25)[i])[0].mean for sign in (1.0, -1.0)]
        assert (both[0] - both[1]) / (2.0 * e) == pytest.approx(found.influence[i], rel=2e-3, abs=1e-6)


def test_one_step_is_a_kernel_regression_and_its_posterior() -> None:
    """At H = 1: mean = kᵀ(K + ρ)⁻¹y, and noise and smoothing together are the posterior variance of the process."""
    steps = some_steps()
    found, targets = regress(steps, 1, SHAPE, EvaluationSettings(constant=1e12))  # no constant
    np.testing.assert_array_equal(targets[:, 0], steps.rewards)

    def k(X: Any, Y: Any) -> Any:
        return np.exp(-0.5 * np.square((X[:, None] - Y[None]) / SHAPE.lengthscales).sum(axis=2))

    C, q, y = k(steps.Z, steps.Z) + SHAPE.ridge * np.eye(25), k(steps.first, steps.Z), steps.rewards
    weights = solve(C, q.T).mean(axis=1)
    assert found.mean == pytest.approx(weights @ y, abs=1e-4)
    np.testing.assert_allclose(found.influence, weights * SHAPE.ridge * solve(C, y), atol=1e-4)
    np.testing.assert_allclose(found.leverage, 1.0 - SHAPE.ridge * np.diag(np.linalg.inv(C)), atol=1e-4)
    size = float(y @ solve(C, y)) / 25
    inside = weights @ k(steps.Z, steps.Z) @ weights  # of the posterior, what lies in the span of the data
    projected = q.mean(axis=0) @ solve(k(steps.Z, steps.Z), q.mean(axis=0))
    hidden = size * (projected - 2.0 * weights @ q.mean(axis=0) + inside)
    away = np.sqrt(size) * np.sqrt(np.maximum(1.0 - np.einsum("ij,ji->i", q, solve(k(steps.Z, steps.Z), q.T)), 0.0))
    assert found.smoothing == pytest.approx(np.sqrt(max(hidden, 0.0)) + away.mean(), rel=1e-2)
