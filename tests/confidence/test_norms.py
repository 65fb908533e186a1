"""RKHS norms of value functions: quadratic forms, the best constant, and functions nearby."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cmerl.confidence.norms import NearNorms, NormCalculator, constant_norm
from cmerl.kernels import RBF, Constant, Delta, Linear, Matern

STATES = np.random.default_rng(0).random((6, 2))
V = np.random.default_rng(1).normal(size=6)
K = Matern(1.5, 0.7)


def norm(v: np.ndarray, terminal: float = 0.0) -> float:
    """√(vᵀK⁻¹v + terminal²)."""
    return math.sqrt(v @ np.linalg.solve(K(STATES, STATES), v) + terminal**2)


@pytest.mark.parametrize("terminal", [None, 0.0, 1.7])
def test_norms_are_quadratic_forms_and_the_least_over_constants(terminal: float | None) -> None:
    found = NormCalculator(K, STATES)(V, terminal)
    assert found.norm == pytest.approx(norm(V, terminal or 0.0))

    def shifted(c: float) -> float:  # the end of an episode is a state of its own, shifted too
        return norm(V - c, 0.0 if terminal is None else terminal - c)

    best = minimize_scalar(shifted)
    assert found.centred == pytest.approx(best.fun, rel=1e-6)


def test_near_norms_are_those_of_a_smaller_function_within_reach() -> None:
    exact = NormCalculator(K, STATES)(V)
    near = [NearNorms(K, STATES, zeta)(V).norm for zeta in (1e-9, 0.1, 0.5)]
    assert near[0] == pytest.approx(exact.norm, rel=1e-4)
    assert near[0] > near[1] > near[2]
    everything = 1.001 * float(np.abs(V).max())
    assert NearNorms(K, STATES, everything)(V).norm == pytest.approx(0.0, abs=1e-6)  # 0 is within reach


def test_where_no_function_is_near_the_norm_is_infinite() -> None:
    doubled = np.vstack([STATES[:1], STATES[:1]])  # one state twice, with two values
    assert NearNorms(RBF(0.5), doubled, 0.4)(np.array([0.0, 1.0])).norm == math.inf
    assert NearNorms(RBF(0.5), doubled, 0.6)(np.array([0.0, 1.0])).norm < math.inf


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Constant(4.0), 0.5),
        (RBF(0.3) + Constant(0.25), 2.0),
        (4.0 * (RBF(0.3) + Constant(0.25)), 1.0),
        (Delta(), math.sqrt(6)),
        (Linear(), None),
        (RBF(0.3), None),
    ],
    ids=repr,
)
def test_the_norm_of_the_constant_one_is_bounded_where_it_is_known(kernel: object, expected: float | None) -> None:
    found = constant_norm(kernel, 6)
    assert found == (None if expected is None else pytest.approx(expected))
    if found is not None:
        states = np.arange(6.0)[:, None]
        interpolant = math.sqrt(np.ones(6) @ np.linalg.pinv(kernel(states, states)) @ np.ones(6))
        assert interpolant <= found + 1e-9
