"""Sums in the coordinates of features: the ridge regression of all data, in any order of arrival."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.embedding.compressed.landmarks import StateTable
from cmerl.embedding.compressed.moments import Moments
from cmerl.kernels import RBF

RNG = np.random.default_rng(0)
X, Y, R = RNG.random((15, 2)), RNG.random((15, 2)), RNG.normal(size=15)
ENDED = np.arange(15) % 5 == 4
K, LAM = RBF(0.6), 0.4


def learned(batches: int, tolerance: float = 1e-12) -> tuple[Moments, StateTable]:
    table = StateTable()
    moments = Moments(Dictionary(K, tolerance, 50), table, LAM)
    for rows in np.array_split(np.arange(15), batches):
        alive = rows[~ENDED[rows]]
        codes, _ = table.encode(Y[alive], choose=False)
        columns = np.full(len(rows), -1)
        columns[~ENDED[rows]] = np.arange(len(alive))
        moments.add(X[rows], codes, columns, R[rows], choose=False)
    return moments, table


@pytest.mark.parametrize("batches", [1, 4])
def test_a_solution_is_the_ridge_regression_of_rewards_values_and_ends(batches: int) -> None:
    moments, table = learned(batches)
    v = np.sin(5.0 * np.asarray(table.points.points)[:, 0])
    coef = moments.solve(v, 0.7, 0.5, 2.0)
    targets = 0.7 * R + 0.5 + np.where(ENDED, 2.0, np.sin(5.0 * Y[:, 0]))
    asked = RNG.random((6, 2))
    expected = K(asked, X) @ np.linalg.solve(K(X, X) + LAM * np.eye(15), targets)
    np.testing.assert_allclose(coef @ moments.features.coordinates(asked)[0], expected, atol=1e-6)


def test_the_sum_of_r_is_that_of_arrival_one_by_one() -> None:
    expected = 0.0
    for i in range(15):
        before = K(X[:i], X[:i]) + LAM * np.eye(i)
        k = K(X[:i], X[[i]])[:, 0] if i else np.zeros(0)
        w = (1.0 - (k @ np.linalg.solve(before, k) if i else 0.0)) / LAM
        expected += w / (1.0 + w)
    for batches in (1, 4, 15):
        assert learned(batches)[0].sum_r == pytest.approx(expected, rel=1e-6)


def test_what_a_small_dictionary_leaves_out_is_summed() -> None:
    moments, _ = learned(1, tolerance=0.3)
    residual = moments.features.coordinates(X)[1]
    assert len(moments.features) < 15
    assert moments.residual_sum >= residual.sum() - 1e-9 > 0.0  # as of each point's turn: later ones leave no more


def test_they_go_on_after_saving() -> None:
    moments, table = learned(2)
    again = Moments(Dictionary(K, 1e-12, 50), table, LAM)
    again.restore(moments.arrays())
    v = np.asarray(table.points.points)[:, 1]
    np.testing.assert_array_equal(again.solve(v, 1.0, 0.0, 0.0), moments.solve(v, 1.0, 0.0, 0.0))
    assert (again.n, again.sum_r) == (moments.n, moments.sum_r)
