"""The additive regression of rewards: against a dense Gaussian process, single precision, actions, far from data."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.displacement.additive import AdditiveRegression
from cmerl.kernels import RBF, Matern
from cmerl.kernels.additive_fitting import AdditiveFit

FIT = AdditiveFit(np.array([0.8, 1.5]), np.array([1.2]), 2.0, 0.01, 0.0)


def data(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    S, A = rng.normal(size=(n, 2)), rng.uniform(-1, 1, (n, 1))
    return S, A, -np.linalg.norm(S, axis=1) - A[:, 0] ** 2


def dense(S: np.ndarray, A: np.ndarray, y: np.ndarray, fit: AdditiveFit, s: np.ndarray, a: np.ndarray) -> np.ndarray:
    """What actions add to the mean of a Gaussian process, and states by a second one on what that leaves."""
    of_state, of_action = Matern(1.5, tuple(fit.state_lengthscales)), RBF(tuple(fit.action_lengthscales))
    noise = fit.ridge * np.eye(len(y))
    K = of_state(S, S) + fit.weight * of_action(A, A) + noise
    coef = fit.weight * np.linalg.solve(K, y - y.mean())
    left = y - of_action(A, A) @ coef
    own = np.linalg.solve(of_state(S, S) + noise, left - left.min())
    return left.min() + of_state(s, S) @ own + of_action(a, A) @ coef


def test_with_all_points_as_centres_it_is_a_gaussian_process() -> None:
    S, A, y = data()
    found = AdditiveRegression(S, A, y, FIT, 60)
    rng = np.random.default_rng(1)
    s, a = rng.normal(size=(20, 2)), rng.uniform(-1, 1, (20, 1))
    at = np.hstack([s, a])
    np.testing.assert_allclose(found(at)[:, 0], dense(S, A, y, FIT, s, a), atol=1e-4)
    np.testing.assert_allclose(found.quick(at.astype(np.float32)), found(at), atol=2e-3)


def test_large_weights_and_small_ridges_leave_nothing_unexplained() -> None:
    """Coefficients of a smooth kernel are huge there: they must not be regularised away."""
    S, A, y = data(300)
    found = AdditiveRegression(S, A, y, AdditiveFit(np.full(2, 5.0), np.array([1.2]), 1e3, 1e-6, 0.0), 300)
    assert np.abs(found(np.hstack([S, A]))[:, 0] - y).max() < 0.01


def test_predictions_for_every_action_are_those_one_by_one() -> None:
    S, A, y = data()
    found = AdditiveRegression(S, A, y, FIT, 40)
    actions, states = np.array([[-1.0], [0.5]]), np.random.default_rng(2).normal(size=(7, 2))
    both, own = found.of_actions(actions), np.stack([states, states + 0.1])
    for a, action in enumerate(actions):
        for asked, given in ((both(states)[a], states), (both(own)[a], own[a])):
            expected = found(np.hstack([given, np.repeat(action[None], 7, axis=0)]))
            np.testing.assert_allclose(asked, expected, atol=1e-12)


def test_far_from_all_states_no_more_is_expected_than_the_worst_that_was_seen() -> None:
    S, A, y = data()
    found = AdditiveRegression(S, A, y, FIT, 60)
    far, worst = np.full((1, 2), 100.0), S[np.argmin(-np.linalg.norm(S, axis=1))][None]
    for action in (-1.0, 0.0, 1.0):
        at = [float(found(np.hstack([s, [[action]]]))[0, 0]) for s in (far, worst)]
        assert at[0] <= at[1] + 0.1
