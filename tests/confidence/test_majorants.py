"""Bounds by majorants (benchmarks/majorant.py) against the dual: the largest mean over laws near the embedding."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from cmerl.kernels import RBF


@pytest.fixture
def majorant(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import majorant

    yield majorant
    sys.modules.pop("majorant", None)


def largest_mean(V, weights, rho, K):
    """max p·V over laws p with ‖Ψp − Ψweights‖ ≤ ρ, from several starts."""
    S, best = len(V), -np.inf
    constraints = [
        {"type": "eq", "fun": lambda p: p.sum() - 1.0},
        {"type": "ineq", "fun": lambda p: rho**2 - (p - weights) @ K @ (p - weights)},
    ]
    for start in (np.full(S, 1 / S), np.clip(weights, 0, None) / np.clip(weights, 0, None).sum()):
        found = minimize(lambda p: -p @ V, start, bounds=[(0, 1)] * S, constraints=constraints, method="SLSQP")
        if found.success and constraints[1]["fun"](found.x) > -1e-6:
            best = max(best, float(found.x @ V))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_least_majorant_is_the_largest_mean(majorant, seed):
    rng = np.random.default_rng(seed)
    states = np.sort(rng.random(6))[:, None]
    K = RBF(0.2)(states) + 1e-6 * np.eye(6)
    V = rng.random(6) * 3
    means = rng.dirichlet(np.ones(6), size=4) * rng.uniform(0.8, 1.0, size=(4, 1))  # as shrunk as a ridge makes them
    rho = rng.uniform(0.25, 0.6, size=4)
    found = majorant.majorants(V, means, rho, np.linalg.cholesky(K))
    for bound, weights, radius in zip(found, means, rho, strict=True):
        truth = largest_mean(V, weights, radius, K)
        assert truth - 1e-6 <= bound <= truth + 0.02 * np.ptp(V)


def test_it_is_monotone_and_no_more_than_the_largest_value(majorant):
    rng = np.random.default_rng(0)
    L = np.linalg.cholesky(RBF(0.3)(rng.random((5, 1))) + 1e-6 * np.eye(5))
    V, means = rng.random(5), rng.dirichlet(np.ones(5), size=3)
    small, large = (majorant.majorants(V, means, np.full(3, rho), L) for rho in (0.05, 0.2))
    assert np.all(small <= large + 1e-3)
    np.testing.assert_allclose(majorant.majorants(V, means, np.full(3, 50.0), L), V.max(), atol=1e-9)
    np.testing.assert_array_equal(majorant.majorants(np.ones(5), means, np.zeros(3), L), np.ones(3))
