"""Repeated inputs are merged: the answers stay, and the cost follows the number of distinct inputs."""

import numpy as np
import pytest

from cmerl.embedding.exact.regression import CHUNK, RidgeRegression
from cmerl.kernels import RBF

LAM = 0.4


def rbf(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2) / 0.5**2)


def data(n: int, distinct: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs from ``distinct`` points, next states 0 … 3 or terminated (-1), rewards."""
    rng = np.random.default_rng(seed)
    domain = rng.uniform(size=(distinct, 2))
    return domain[rng.integers(0, distinct, n)], rng.integers(-1, 4, n), rng.normal(size=n)


@pytest.mark.parametrize(("n", "distinct", "batch"), [(2000, 7, 900), (1200, 60, 37), (700, 20, 1), (1000, 400, 250)])
def test_rows_follow_the_distinct_inputs_and_answers_the_dense_matrix(n: int, distinct: int, batch: int) -> None:
    X, nexts, rewards = data(n, distinct)
    regression = RidgeRegression(RBF(0.5), LAM)
    for start in range(0, n, batch):
        rows = slice(start, start + batch)
        ids = regression.append(X[rows], nexts[rows], rewards[rows])
        np.testing.assert_array_equal(regression.points.points[ids], X[rows])
        seen = len(np.unique(X[: start + batch], axis=0))
        assert len(regression.points) == seen
        assert regression.factor.n <= 2 * seen + CHUNK
        assert regression.counts.sum() == min(start + batch, n)
    assert 0 < regression.generation <= n // distinct  # a merge pays for itself by the repeats since the last one

    Xq = np.random.default_rng(1).uniform(size=(15, 2))
    alpha = np.linalg.solve(rbf(X, X) + LAM * np.eye(n), rbf(X, Xq)).T
    Kqz = rbf(Xq, regression.points.points)
    var = 1.0 - np.einsum("qn,qn->q", alpha, rbf(Xq, X))
    np.testing.assert_allclose(regression.snapshot().variance(Kqz, np.ones(15)), var, atol=1e-9)

    v = np.array([0.3, -1.0, 2.0, 0.7, -5.0])  # the last is the value of a terminated state
    y = 2.0 * rewards + v[nexts]
    solved = regression.solve(regression.targets(v, 2.0))
    np.testing.assert_allclose(Kqz @ solved.full, alpha @ y, atol=1e-9)
    half_weights = np.linalg.solve(regression.factor.L, Kqz.T[regression.ids])
    np.testing.assert_allclose(solved.half @ half_weights, alpha @ y, atol=1e-9)

    shares = np.zeros((15, 4))
    regression.next_state_weights(Kqz, shares)
    by_state = np.column_stack([alpha[:, nexts == s].sum(axis=1) for s in range(4)])
    np.testing.assert_allclose(shares, by_state, atol=1e-9)


def test_distinct_inputs_are_never_refactorised() -> None:
    X, nexts, rewards = np.random.default_rng(2).uniform(size=(900, 2)), np.zeros(900, np.intp), np.zeros(900)
    regression = RidgeRegression(RBF(0.5), LAM)
    for start in range(0, 900, 90):
        rows = slice(start, start + 90)
        regression.append(X[rows], nexts[rows], rewards[rows])
    assert (regression.generation, regression.factor.n) == (0, 900)
    np.testing.assert_allclose(regression.factor.L, np.linalg.cholesky(rbf(X, X) + LAM * np.eye(900)), atol=1e-9)


def test_a_snapshot_and_its_coefficients_outlive_later_rows_and_merges() -> None:
    X, nexts, rewards = data(600, 25, seed=3)
    regression = RidgeRegression(RBF(0.5), LAM)
    regression.append(X[:50], nexts[:50], rewards[:50])
    v, Xq = np.array([1.0, -2.0, 0.5, 3.0, 0.0]), X[:5] + 0.1
    snapshot, solved = regression.snapshot(), regression.solve(regression.targets(v, 1.0))
    generation = regression.generation
    for start in range(50, 600, 11):
        rows = slice(start, start + 11)
        regression.append(X[rows], nexts[rows], rewards[rows])
    assert regression.generation > generation
    Kqz = rbf(Xq, np.array(snapshot.points))
    alpha = np.linalg.solve(rbf(X[:50], X[:50]) + LAM * np.eye(50), rbf(X[:50], Xq)).T
    var = 1.0 - np.einsum("qn,qn->q", alpha, rbf(Xq, X[:50]))
    np.testing.assert_allclose(snapshot.variance(Kqz, np.ones(5)), var, atol=1e-10)
    np.testing.assert_allclose(snapshot.row_weights(Kqz).sum(axis=1), alpha.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(Kqz @ solved.full, alpha @ (rewards[:50] + v[nexts[:50]]), atol=1e-10)
