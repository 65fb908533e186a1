"""W = L⁻¹k(rows, queries) as both grow, against a dense solution."""

import numpy as np
import pytest

from cmerl.embedding.exact.growing_solve import GrowingSolve
from cmerl.kernels import RBF
from cmerl.linalg import Cholesky
from cmerl.transitions import PointSet

LAM, KERNEL = 0.3, RBF(0.5)


class Points:
    """Rows of a factor over points that are added one batch after the other."""

    def __init__(self) -> None:
        self.kernel, self.points, self.generation = KERNEL, PointSet(), 0
        self.factor = Cholesky.of(np.zeros((0, 0)), LAM)

    @property
    def ids(self) -> np.ndarray:
        return np.arange(len(self.points))

    def add(self, X: np.ndarray) -> None:
        self.points.add(X)
        self.factor = Cholesky.of(KERNEL(self.points.points), LAM)


def dense(rows: Points, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wᵀ·half for half = 1, 2, …, and the variance, from the whole matrix at once."""
    X = np.asarray(rows.points.points)
    L = np.linalg.cholesky(KERNEL(X) + LAM * np.eye(len(X)))
    W = np.linalg.solve(L, KERNEL(X, queries))
    return W.T @ np.arange(1.0, len(X) + 1.0), 1.0 - np.square(W).sum(axis=0)


@pytest.mark.parametrize("defer", [0, 1, 4, 100])
def test_rows_and_queries_may_come_in_any_order(defer: int) -> None:
    rng = np.random.default_rng(0)
    rows, queries = Points(), rng.random((9, 2))
    rows.add(rng.random((3, 2)))
    solve = GrowingSolve(rows, defer)
    for more, asked in ((0, 2), (2, 2), (0, 5), (3, 9), (1, 9)):
        if more:
            rows.add(rng.random((more, 2)))
        solve.refresh(queries[:asked])
        projected, variance = dense(rows, queries[:asked])
        np.testing.assert_allclose(solve.project(np.arange(1.0, len(rows.points) + 1.0)), projected, atol=1e-10)
        if not defer:
            np.testing.assert_allclose(solve.variance, variance, atol=1e-10)


def test_what_was_saved_goes_on() -> None:
    rng = np.random.default_rng(1)
    rows, queries = Points(), rng.random((6, 2))
    rows.add(rng.random((4, 2)))
    solve, again = GrowingSolve(rows), GrowingSolve(rows)
    solve.refresh(queries[:4])
    again.restore(solve.arrays())
    rows.add(rng.random((2, 2)))
    again.refresh(queries)
    np.testing.assert_allclose(again.variance, dense(rows, queries)[1], atol=1e-10)


def test_what_changes_in_place_is_turned_back() -> None:
    rng = np.random.default_rng(2)
    rows, queries = Points(), rng.random((4, 2))
    rows.add(rng.random((4, 2)))
    solve = GrowingSolve(rows)
    solve.refresh(queries)
    before, turn_back = solve.variance.copy(), solve.undo()
    rows.add(rng.random((2, 2)))
    solve.refresh(queries)
    assert np.all(solve.variance < before)
    turn_back()
    np.testing.assert_array_equal(solve.variance, before)
