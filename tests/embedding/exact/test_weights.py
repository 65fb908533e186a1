"""Weights kept at their numerical rank are those of the dense matrix, as data grow."""

from __future__ import annotations

import numpy as np
import pytest

import cmerl.embedding.exact.support_grid as support
import cmerl.embedding.exact.weights as weights
from cmerl.embedding import ExactEmbedding
from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.embedding.exact.weights import DenseWeights, FactoredWeights
from cmerl.kernels import RBF, Constant, Delta, Kernel, Matern, StateAction
from cmerl.transitions import Transitions

A = 2
ACTIONS = np.arange(A, dtype=float)[:, None]
LAM = 0.1
SMOOTH = {
    "split": StateAction(RBF(1.0), Delta()),
    "product": StateAction(RBF(1.5), Constant(0.5) + 0.5 * Delta()),
    "general": RBF((1.0, 1.0, 3.0)),
}


def world(n: int, seed: int, origin: float = 0.0) -> Transitions:
    rng = np.random.default_rng(seed)
    states = origin + rng.random((n, 2))
    Z = np.hstack([states, rng.integers(A, size=(n, 1))])
    nexts = states + 0.05 * rng.standard_normal((n, 2))
    return Transitions.of(Z, nexts, rng.random(n), rng.random(n) < 0.05)


def mean_and_std(embedding: ExactEmbedding) -> tuple[np.ndarray, np.ndarray]:
    v = 5.0 * np.sin(4.0 * embedding.support[:, 0]) + embedding.support[:, 1]
    grid = embedding.grid()
    return grid.expectation(embedding.backup(v - 3.0, terminal=-2.5)), grid.std()


def dense(embedding: ExactEmbedding) -> tuple[np.ndarray, np.ndarray]:
    """The same from a grid that is computed afresh."""
    v = 5.0 * np.sin(4.0 * embedding.support[:, 0]) + embedding.support[:, 1]
    grid = embedding.grid(embedding.support)
    return grid.expectation(embedding.backup(v - 3.0, terminal=-2.5)), grid.std()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "RANK_FROM", 150)
    monkeypatch.setattr(weights, "DEFER", 20)


@pytest.mark.parametrize("kernel", SMOOTH.values(), ids=SMOOTH)
@pytest.mark.parametrize("track_std", [True, False])
@pytest.mark.parametrize("size", [1, 30])
def test_factored_weights_equal_the_dense_matrix_as_data_grow(kernel: Kernel, track_std: bool, size: int) -> None:
    data = world(390, 1)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS, track_std=track_std)
    embedding.update(data[:300])
    for start in range(300, 390, size):
        embedding.update(data[start : start + size])
        if (start + size) % 30 == 0:
            for ours, theirs in zip(mean_and_std(embedding), dense(embedding), strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-9)
    if track_std or not embedding.layout.product:
        assert isinstance(embedding.grid().weights, FactoredWeights)


@pytest.mark.parametrize("kernel", SMOOTH.values(), ids=SMOOTH)
def test_factored_weights_follow_when_repeats_are_merged(kernel: Kernel) -> None:
    data = world(300, 2)
    embedding = ExactEmbedding(kernel, LAM, ACTIONS)
    for _ in range(3):
        for start in range(0, 300, 50):
            embedding.update(data[start : start + 50])
    assert embedding.diagnostics()["distinct state-actions"] < embedding.n == 900  # repeats share a row
    assert isinstance(embedding.grid().weights, FactoredWeights)
    for ours, theirs in zip(mean_and_std(embedding), dense(embedding), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_rough_kernels_keep_their_weights_as_they_are() -> None:
    embedding = ExactEmbedding(StateAction(Matern(0.5, 0.3), Delta()), LAM, ACTIONS)
    embedding.update(world(400, 2))
    assert isinstance(embedding.grid().weights, DenseWeights)


@pytest.mark.parametrize("size", [1, 20])
def test_a_new_region_that_fills_up_after_the_choice_loses_nothing(size: int) -> None:
    """In the order of arrival its points would make the basis useless: the first ones are nearly dependent."""
    embedding = ExactEmbedding(SMOOTH["split"], LAM, ACTIONS)
    embedding.update(world(400, 3))
    assert isinstance(embedding.grid().weights, FactoredWeights)
    elsewhere = world(200, 4, origin=8.0)
    for start in range(0, 200, size):
        embedding.update(elsewhere[start : start + size])
    for ours, theirs in zip(mean_and_std(embedding), dense(embedding), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_a_rank_that_has_become_too_high_brings_the_dense_weights_back() -> None:
    embedding = ExactEmbedding(SMOOTH["split"], LAM, ACTIONS)
    embedding.update(world(300, 5))
    assert isinstance(embedding.grid().weights, FactoredWeights)
    data = world(400, 6)
    data.Z[:, :2] *= 40.0
    data.next_states[:] *= 40.0
    embedding.update(data)
    assert isinstance(embedding.grid().weights, DenseWeights)
    for ours, theirs in zip(mean_and_std(embedding), dense(embedding), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_the_largest_residual_first_keeps_coordinates_below_their_pivots_and_arrival_does_not() -> None:
    X = np.random.default_rng(7).random((300, 2))
    chosen, arrived = Dictionary(RBF(0.5), 1e-11, 1000), Dictionary(RBF(0.5), 1e-11, 1000)
    chosen.choose(X)
    chosen.absorb(X)
    for x in X:
        arrived.absorb(x[None])
    assert chosen.growth < 1.1
    assert arrived.growth > 100.0
    errors = [np.abs(C.T @ C - RBF(0.5)(X)).max() for C, _ in (d.coordinates(X) for d in (chosen, arrived))]
    assert errors[0] < 1e-10
    assert errors[0] < errors[1]
