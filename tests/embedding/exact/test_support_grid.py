"""The grid of the support: what is extended with the data is what would be computed anew."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import ExactEmbedding
from cmerl.kernels import RBF, Delta, Kernel, StateAction
from cmerl.transitions import Transitions

ACTIONS = np.arange(3.0)[:, None]
KERNELS = {"split": StateAction(RBF(0.4), Delta()), "product": StateAction(RBF(0.4), RBF(1.0)), "neither": RBF(0.6)}


def batches(sizes: tuple[int, ...]) -> list[Transitions]:
    rng = np.random.default_rng(0)
    found = []
    for n in sizes:
        states, nexts = rng.random((n, 2)).round(1), rng.random((n, 2)).round(1)  # some come again
        found.append(Transitions.of(np.column_stack([states, rng.integers(3, size=n)]), nexts, rng.normal(size=n)))
    return found


@pytest.mark.parametrize("track_std", [False, True])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_what_grows_with_the_data_is_what_is_computed_from_all_of_it(kernel: Kernel, track_std: bool) -> None:
    parts = batches((7, 1, 12, 30))
    grown = ExactEmbedding(kernel, 0.3, ACTIONS, track_std=track_std)
    for part in parts:
        grown.update(part)
        cached = grown.grid()  # asked after every batch, so that it grows
        v = np.sin(5.0 * np.asarray(grown.support)[:, 0])
        coef = grown.backup(v, terminal=0.5)
        afresh = grown.freeze().grid(grown.support)
        np.testing.assert_allclose(cached.expectation(coef), afresh.expectation(coef), atol=1e-9)
        np.testing.assert_allclose(cached.std(), afresh.std(), atol=1e-7)
        np.testing.assert_allclose(cached.weight_norm1(), afresh.weight_norm1(), atol=1e-9)
        np.testing.assert_allclose(cached.shrinkage(), afresh.shrinkage(), atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_before_any_data_the_grid_is_empty(kernel: Kernel) -> None:
    model = ExactEmbedding(kernel, 0.3, ACTIONS, track_std=True)
    assert model.grid().expectation(model.ones()).shape == (0, 3)
