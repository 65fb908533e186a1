"""Regressions on centres against dense ones; spread centres; novelty as a posterior variance."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.displacement.regression import (
    Novelty,
    farthest_points,
    independent_points,
)
from cmerl.kernels import RBF


def test_farthest_points_keep_a_lonely_region() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(500, 2)), [[8.0, 8.0]]])
    rows, radius = farthest_points(X, 20)
    assert 500 in rows
    assert len(np.unique(rows)) == 20
    nearest = np.sqrt(np.square(X[:, None] - X[rows]).sum(axis=2)).min(axis=1)
    np.testing.assert_allclose(radius, nearest.max())


def test_a_point_that_comes_again_is_not_chosen_again() -> None:
    X = 1e3 + np.random.default_rng(0).normal(size=(50, 6))
    rows, radius = farthest_points(np.repeat(X, 20, axis=0), 300)
    assert sorted(rows // 20) == list(range(50))
    assert radius < 1e-6


def test_novelty_is_the_posterior_variance() -> None:
    rng = np.random.default_rng(2)
    X, Q = 2 * rng.normal(size=(40, 2)), 3 * rng.normal(size=(25, 2))
    found = Novelty(X, 0.1, 40)
    k = RBF(1.0)
    expected = 1 - np.einsum("iq,iq->q", k(X, Q), np.linalg.solve(k(X, X) + 0.1 * np.eye(40), k(X, Q)))
    np.testing.assert_allclose(found(Q), expected, atol=1e-3)
    gain = 0.5 * np.linalg.slogdet(np.eye(40) + k(X, X) / 0.1)[1]
    np.testing.assert_allclose(found.information_gain, gain, rtol=1e-2)
    np.testing.assert_allclose(found(np.full((1, 2), 50.0)), 1.0)


def test_centres_that_others_imply_are_dropped_and_nothing_is_lost() -> None:
    X = 0.4 * np.random.default_rng(3).normal(size=(300, 2))
    rows = independent_points(X, 200, implied=1e-6)
    assert len(rows) < 60
    k = RBF(1.0)
    left = 1 - np.einsum("ij,ij->j", k(X[rows], X), np.linalg.solve(k(X[rows], X[rows]), k(X[rows], X)))
    assert left.max() < 10 * 1e-6
    assert len(independent_points(100.0 * X, 200)) == 200  # far apart none is implied


def test_for_a_set_of_actions_novelty_is_what_it_is_row_by_row() -> None:
    rng = np.random.default_rng(4)
    Z, actions = rng.normal(size=(60, 4)), rng.normal(size=(3, 2))
    novelty = Novelty(Z, 0.1, 40)
    shared = rng.normal(size=(5, 2))
    for a, action in enumerate(actions):
        rows = np.hstack([shared, np.tile(action, (5, 1))])
        np.testing.assert_allclose(novelty.of_actions(actions)(shared)[a], novelty(rows), atol=1e-9)


def test_novelty_bears_whole_numbers_that_come_again_and_again() -> None:
    lattice = 0.3 * np.stack(np.meshgrid(*3 * [np.arange(7.0)], indexing="ij"), axis=-1).reshape(-1, 3)
    lattice = lattice[np.random.default_rng(0).permutation(343)[:200]]
    novelty = Novelty(np.vstack([lattice, np.repeat(lattice[:3], 3000, axis=0)]), 0.1, 200)
    assert novelty(lattice[:3]).max() < 1e-3  # λ/(N + λ), and rounding
    assert novelty(lattice[3:]).max() < 0.2
    np.testing.assert_allclose(novelty(np.full((1, 3), 50.0)), 1.0)
