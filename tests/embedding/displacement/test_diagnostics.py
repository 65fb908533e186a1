"""What a displacement model has chosen, in words and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.diagnostics import explained, kernels_in_words, rounded
from cmerl.embedding.displacement.reward_kernel import RewardKernel
from cmerl.kernels.additive_fitting import AdditiveFit
from cmerl.kernels.fitting import Fit
from cmerl.transitions import Transitions


def test_kernels_are_named_by_lengthscales_and_ridge() -> None:
    fit = Fit(np.array([1.23456, 2000.4]), 0.0123, 0.0)
    words = "RBF of lengthscales [1.23, 2000.0] with ridge 0.012"
    found = kernels_in_words([fit, None], RewardKernel(fit, at_next=True))
    assert found["displacement kernels"] == [words, "constant"]
    assert found["reward kernel"] == f"{words} of the next state"
    assert kernels_in_words([], RewardKernel(None))["reward kernel"] == "constant"
    assert rounded(np.array([0.00012345])) == [0.000123]


def test_a_sum_of_kernels_is_named_by_both_and_the_weight() -> None:
    fit = AdditiveFit(np.array([1.23456, 30.0]), np.array([0.5]), 12.34, 1e-6, 0.0)
    words = (
        "Matérn-3/2 of states, lengthscales [1.23, 30.0], plus 12 times RBF of actions, lengthscales [0.5], "
        "with ridge 1e-06"
    )
    assert kernels_in_words([], RewardKernel(fit))["reward kernel"] == words


@pytest.mark.parametrize(("noise", "share"), [(0.0, 1.0), (0.1, 0.5)])
def test_what_is_explained_is_all_but_the_noise(noise: float, share: float) -> None:
    rng = np.random.default_rng(0)
    x, a = rng.random((400, 1)), rng.integers(2, size=(400, 1))
    y = x + 0.1 * (2.0 * a - 1.0) + noise * rng.normal(size=(400, 1))  # the action moves by 0.1 either way
    model = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    model.update(Transitions.of(np.hstack([x, a]), y))
    assert explained(model.dynamics) == pytest.approx(share, abs=0.06)
    assert model.diagnostics()["displacement explained"] == explained(model.dynamics)
