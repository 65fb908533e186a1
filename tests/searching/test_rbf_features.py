"""RBF functions at centres: what the formula says, products over columns, and posterior variances."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.searching.rbf_features import RBFFeatures, posterior_variance

RNG = np.random.default_rng(0)
CENTRES, QUERIES = RNG.normal(3.0, 2.0, (6, 3)), RNG.normal(3.0, 2.0, (4, 3))


def by_hand(X: np.ndarray, centres: np.ndarray, lengthscales: np.ndarray | float) -> np.ndarray:
    return np.array([[np.exp(-0.5 * np.sum(((x - c) / lengthscales) ** 2)) for c in centres] for x in X])


@pytest.mark.parametrize("lengthscales", [1.0, 0.7, np.array([0.5, 2.0, 4.0])], ids=str)
def test_a_feature_falls_with_the_squared_distance_over_the_lengthscales(lengthscales: np.ndarray | float) -> None:
    features = RBFFeatures(CENTRES, lengthscales)
    np.testing.assert_allclose(features(QUERIES), by_hand(QUERIES, CENTRES, lengthscales), rtol=1e-10)
    grid = QUERIES.reshape(2, 2, 3)
    np.testing.assert_array_equal(features(grid), features(QUERIES).reshape(2, 2, 6))


def test_features_of_states_times_those_of_actions_are_those_of_both() -> None:
    scales, actions = np.array([0.5, 2.0, 1.5]), np.array([[1.0], [4.0]])
    states, of_actions = RBFFeatures(CENTRES, scales).split(actions)
    for a, row in zip(actions, of_actions, strict=True):
        together = np.column_stack([QUERIES[:, :2], np.full(4, a[0])])
        np.testing.assert_allclose(states(QUERIES[:, :2]) * row, by_hand(together, CENTRES, scales), rtol=1e-10)


def test_the_posterior_variance_is_that_of_a_gaussian_process() -> None:
    K, k, noise = by_hand(CENTRES, CENTRES, 1.0), by_hand(QUERIES, CENTRES, 1.0), 0.3
    expected = 1.0 - np.array([row @ np.linalg.solve(K + noise * np.eye(6), row) for row in k])
    known = np.linalg.inv(K + noise * np.eye(6))
    np.testing.assert_allclose(posterior_variance(k, known), expected)
    np.testing.assert_allclose(posterior_variance(np.zeros((1, 6)), known), 1.0)  # far away nothing is known


def test_round_off_does_not_take_a_variance_out_of_its_range() -> None:
    assert posterior_variance(np.array([[1.0]]), np.array([[1.0 + 1e-9]])) == 0.0
    assert posterior_variance(np.array([[1.0]]), np.array([[-1e-9]])) == 1.0
