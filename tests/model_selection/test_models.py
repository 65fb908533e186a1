"""Direct or displacement: held-out predictions decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from walks import beside_cells, learned, slippery_cells, walk

from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import RBF, Delta, Matern, StateAction
from cmerl.model_selection import Selection, displacement_is_better
from cmerl.model_selection.models import direct_losses, displacement_losses


@pytest.mark.parametrize("noise", [0.0, 0.002, 0.02, 0.1])
def test_motion_that_is_smooth_but_for_noise_is_modelled_by_displacements(noise: float) -> None:
    data = walk(noise)  # 0.1 is two steps, and the width of values
    assert displacement_is_better(learned(data), RBF(0.1), Matern(1.5, 0.1), 0.1, Selection())


def test_a_law_that_a_mean_and_its_residuals_do_not_describe_is_embedded_directly() -> None:
    kernel = StateAction(RBF(0.1), Delta())
    assert not displacement_is_better(learned(slippery_cells(600)), kernel, Matern(1.5, 0.1), 0.1, Selection())


def test_what_no_reward_depends_on_does_not_count() -> None:
    data, kernels = beside_cells(600), (StateAction(RBF(0.1), Delta()), Matern(1.5, 0.1))
    nothing_pays = replace(data, rewards=np.zeros(600))
    assert displacement_is_better(learned(data), *kernels, 0.1, Selection())
    assert not displacement_is_better(learned(nothing_pays), *kernels, 0.1, Selection())  # for the law of the cells


def test_models_are_compared_by_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = learned(walk(0.0, n=140))
    wrong = np.random.default_rng(0).normal(0.0, 0.5, (140, 2))
    monkeypatch.setattr(DisplacementEmbedding, "left_out_residuals", property(lambda self: wrong))
    assert np.abs(embedding.residuals(embedding.data)).max() < 0.01
    assert not displacement_is_better(embedding, RBF(0.1), Matern(1.5, 0.1), 0.1, Selection())


def test_the_direct_loss_leaves_each_transition_out() -> None:
    rng = np.random.default_rng(0)
    Z, Y, lam, value_kernel = rng.random((8, 2)), rng.random((8, 2)), 0.2, Matern(1.5, 0.5)
    k, losses = RBF(0.4), []
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        alpha = np.linalg.solve(k(Z[rest], Z[rest]) + lam * np.eye(7), k(Z[rest], Z[[i]]))[:, 0]
        V, c = value_kernel(Y[rest], Y[rest]), value_kernel(Y[rest], Y[[i]])[:, 0]
        losses.append(1.0 - 2 * alpha @ c + alpha @ V @ alpha)
    np.testing.assert_allclose(direct_losses(k(Z, Z), Y, value_kernel, lam), losses)


def test_the_loss_of_a_displacement_is_the_distance_to_the_embedding_of_its_noise() -> None:
    residuals, k = 0.2 * np.random.default_rng(1).normal(size=(9, 2)), Matern(1.5, 0.5)
    noise = residuals[[0, 2, 5, 8]]  # four of nine, evenly spread
    expected = [
        k(r[None], r[None])[0, 0] - 2.0 * np.mean([k(r[None], e[None]) for e in noise]) + k(noise, noise).mean()
        for r in residuals
    ]
    np.testing.assert_allclose(displacement_losses(residuals, k, 4), expected)
    np.testing.assert_allclose(displacement_losses(np.zeros((10, 2)), k, 16), 0.0, atol=1e-12)
