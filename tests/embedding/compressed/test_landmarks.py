"""Landmarks: sums over next states by table or by interpolation."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.compressed.landmarks import InterpolatedLandmarks, StateTable
from cmerl.growing import GrowingMatrix
from cmerl.kernels import Matern

RNG = np.random.default_rng(0)
PHI = RNG.normal(size=(3, 8))  # features of eight state-actions
K = Matern(1.5, 0.5)


def test_a_table_adds_the_features_of_each_distinct_state() -> None:
    Y = np.array([[0.0], [1.0], [0.0], [2.0], [1.0], [0.0], [2.0], [0.0]])
    table, cross = StateTable(), GrowingMatrix()
    codes, lost = table.encode(Y, choose=False)
    table.accumulate(cross, codes, np.arange(8), PHI)
    assert lost == 0.0
    assert len(table) == 3
    for i, state in enumerate((0.0, 1.0, 2.0)):
        np.testing.assert_allclose(cross.view[i], PHI[:, Y[:, 0] == state].sum(axis=1))
    assert table.kernel_functions(Y)(Y).shape == (0, 8)  # nothing is interpolated


@pytest.mark.parametrize("batches", [1, 3])
def test_interpolated_sums_are_exact_for_functions_of_the_landmarks(batches: int) -> None:
    Y, at = RNG.random((8, 2)), InterpolatedLandmarks(K, 1e-12, 50)
    cross = GrowingMatrix()
    for rows in np.array_split(np.arange(8), batches):
        codes, _ = at.encode(Y[rows], choose=False)
        at.accumulate(cross, codes, np.arange(len(rows)), PHI[:, rows])
    landmarks = np.asarray(at.points.points)
    v = K(landmarks, Y[:2]) @ [1.0, -2.0]  # values at the landmarks of a function in the space of k_ψ
    everywhere = K(Y, Y[:2]) @ [1.0, -2.0]
    np.testing.assert_allclose(v @ cross.view, PHI @ everywhere, atol=1e-8)


def test_with_few_landmarks_what_is_lost_is_said() -> None:
    Y, at = RNG.random((30, 2)), InterpolatedLandmarks(K, 0.3, 4)
    _, lost = at.encode(Y, choose=True)
    assert at.full
    assert len(at) <= 4
    L = np.asarray(at.points.points)
    left = 1.0 - np.einsum("ij,ij->j", K(L, Y), np.linalg.solve(K(L, L), K(L, Y)))
    assert lost == pytest.approx(left.sum(), rel=1e-6)


def test_functions_to_try_interpolation_with_are_one_at_their_centres() -> None:
    at, centres = InterpolatedLandmarks(2.5 * K, 0.1, 9), RNG.random((3, 2))
    functions = at.kernel_functions(centres)
    np.testing.assert_allclose(np.diagonal(functions(centres)), 1.0)
    np.testing.assert_allclose(functions(centres), K(centres, centres))


@pytest.mark.parametrize(
    "make", [StateTable, lambda: InterpolatedLandmarks(K, 0.01, 20)], ids=["table", "dictionary"]
)
def test_they_go_on_after_saving(make: object) -> None:
    Y = RNG.random((6, 2))
    at, again = make(), make()
    at.encode(Y, choose=False)
    again.restore(at.arrays())
    assert len(again) == len(at)
    np.testing.assert_allclose(again.codes(Y), at.codes(Y))
