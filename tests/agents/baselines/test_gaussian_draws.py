"""Draws from a kernel posterior have its mean and covariance, on the dictionary and off it."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines.gaussian_draws import GaussianDraw, PosteriorCovariance, spread_states, state_actions
from cmerl.kernels import RBF, Delta, StateAction

ACTIONS = np.array([[0.0], [1.0]])
KERNEL = StateAction(RBF(0.3), 0.5 * Delta() + 0.5)


def learned(n: int = 12, lam: float = 0.2) -> tuple[PosteriorCovariance, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = np.hstack([rng.random((n, 1)) / 2, rng.integers(2, size=(n, 1))])
    covariance = PosteriorCovariance(KERNEL, lam)
    covariance.update(Z[:5])
    covariance.update(Z[5:])
    return covariance, Z


def exact(Z: np.ndarray, X: np.ndarray, lam: float = 0.2) -> np.ndarray:
    return KERNEL(X) - KERNEL(X, Z) @ np.linalg.inv(KERNEL(Z) + lam * np.eye(len(Z))) @ KERNEL(Z, X)


def test_the_covariance_is_that_of_the_regression() -> None:
    covariance, Z = learned()
    X = state_actions(np.linspace(0, 1, 4)[:, None], ACTIONS)
    np.testing.assert_allclose(covariance.freeze().between(X, X), exact(Z, X), atol=1e-10)
    frozen = covariance.freeze()
    covariance.update(X)
    np.testing.assert_allclose(frozen.between(X, X), exact(Z, X), atol=1e-10)


@pytest.mark.parametrize("outside", [False, True])
def test_draws_have_the_right_mean_and_covariance(outside: bool) -> None:
    covariance, Z = learned()
    dictionary = np.array([[0.1], [0.4], [0.9]])
    count = 20_000
    rng = np.random.SeedSequence(7)
    draw = GaussianDraw(
        covariance.freeze(),
        dictionary,
        ACTIONS,
        count,
        lambda *key: np.random.default_rng(np.random.SeedSequence(rng.entropy, spawn_key=key)),
    )
    # A state far from the dictionary keeps its variance, and its covariance with the dictionary and between actions.
    states = np.vstack([dictionary, [[1.7]] if outside else [[0.4]]])
    values = draw.at(states).reshape(8, count)
    want = exact(Z, state_actions(states, ACTIONS))
    assert want[6, 6] > (0.9 if outside else 0.0)
    np.testing.assert_allclose(values.mean(axis=1), 0.0, atol=0.03)
    np.testing.assert_allclose(np.cov(values), want, atol=0.04)
    np.testing.assert_array_equal(draw.at(states[::-1])[::-1], draw.at(states))  # a function, asked in any order


def test_states_are_spread() -> None:
    states = np.vstack([np.zeros((5, 1)), 1e-9 * np.ones((5, 1)), [[1.0]], [[2.0]]])
    chosen = spread_states(KERNEL, states, ACTIONS, 3)
    assert sorted(np.round(chosen[:, 0]).tolist()) == [0.0, 1.0, 2.0]
