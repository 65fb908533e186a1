"""Sketches: with nothing left out they are the exact embedding; random features come close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cmerl.embedding import ExactEmbedding
from cmerl.embedding.compressed.sketches import compressed, fourier, nystrom
from cmerl.errors import InputError
from cmerl.kernels import RBF, Delta, Kernel, Matern, StateAction
from cmerl.transitions import Transitions

ACTIONS = np.array([[0.0], [1.0]])
SHARED, SPLIT = StateAction(RBF(0.6), RBF(1.0)), StateAction(RBF(0.6), Delta())
PSI = Matern(1.5, 0.5)
ASKED = np.random.default_rng(9).random((6, 2))


def data(n: int = 40) -> Transitions:
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.random((n, 2)), rng.integers(2, size=n)])
    return Transitions.of(Z, rng.random((n, 2)), rng.normal(size=n), rng.random(n) < 0.1)


def means(model: Any) -> np.ndarray:
    v = np.cos(4.0 * np.asarray(model.support)[:, 0])
    return np.asarray(model.grid(ASKED).expectation(model.backup(v, terminal=0.3)))


def exact(kernel: Kernel) -> ExactEmbedding:
    model = ExactEmbedding(kernel, 0.2, ACTIONS, track_std=True)
    model.update(data())
    return model


@pytest.mark.parametrize("kernel", [SHARED, SPLIT], ids=["shared", "split"])
@pytest.mark.parametrize(
    "make",
    [
        lambda k: compressed(k, PSI, 0.2, ACTIONS, tolerance=0.0, value_tolerance=0.0, centre=False),
        lambda k: nystrom(k, 0.2, ACTIONS, count=100, tolerance=1e-12, centre=False),
    ],
    ids=["compressed", "nystrom"],
)
def test_with_every_point_kept_a_sketch_is_the_exact_embedding(make: Callable[[Kernel], Any], kernel: Kernel) -> None:
    model = make(kernel)
    for part in (data()[:25], data()[25:]):
        model.update(part)
    np.testing.assert_allclose(means(model), means(exact(kernel)), atol=1e-6)
    np.testing.assert_allclose(model.grid(ASKED).std(), exact(kernel).grid(ASKED).std(), atol=1e-5)


def test_random_features_come_closer_the_more_there_are_and_are_the_same_for_a_seed() -> None:
    truth = means(exact(SPLIT))

    def missed(count: int, seed: int) -> float:
        model = fourier(SPLIT, 0.2, ACTIONS, count=count, seed=seed)
        model.update(data())
        return float(np.abs(means(model) - truth).mean())

    assert np.mean([missed(800, s) for s in range(4)]) < np.mean([missed(20, s) for s in range(4)])
    assert missed(20, 3) == missed(20, 3)
    assert missed(20, 3) != missed(20, 4)


@pytest.mark.parametrize(
    "wrong", [{"tolerance": 1.0}, {"tolerance": -0.1}, {"value_tolerance": 2.0}, {"cap": 0}], ids=str
)
def test_what_makes_no_dictionary_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        compressed(SHARED, PSI, 0.2, ACTIONS, **wrong)
