"""An exact embedding at states × actions, for every layout of the kernel: ridge regression by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import ExactEmbedding
from cmerl.embedding.exact.grids import Layout
from cmerl.kernels import RBF, Delta, Kernel, Linear, StateAction
from cmerl.transitions import Transitions

ACTIONS, LAM = np.array([[0.0], [1.0], [2.0]]), 0.3
KERNELS = {
    "split": StateAction(RBF(0.5), Delta()),
    "product": StateAction(RBF(0.5), RBF(1.0)),
    "neither": RBF(0.7) + 0.3 * Linear(),
}
RNG = np.random.default_rng(0)
STATES, CHOSEN = RNG.random((9, 2)), RNG.integers(3, size=9)
Z = np.column_stack([STATES, CHOSEN.astype(float)])
REWARDS, NEXT = RNG.normal(size=9), RNG.random((9, 2))
ASKED = RNG.random((4, 2))
ZQ = np.array([[*s, *a] for s in ASKED for a in ACTIONS])


def learned(kernel: Kernel) -> ExactEmbedding:
    made = ExactEmbedding(kernel, LAM, ACTIONS, track_std=True)
    made.update(Transitions.of(Z, NEXT, REWARDS))
    return made


def alpha(kernel: Kernel) -> np.ndarray:
    """(K + λ)⁻¹k(Z, zq) (n, q·A)."""
    return np.asarray(np.linalg.solve(kernel(Z, Z) + LAM * np.eye(9), kernel(Z, ZQ)))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_means_deviations_and_weights_are_those_of_ridge_regression(kernel: Kernel) -> None:
    model = learned(kernel)
    v = np.sin(9.0 * np.asarray(model.support)[:, 0])
    targets = REWARDS + np.sin(9.0 * NEXT[:, 0])
    found = model.grid(ASKED)
    A = alpha(kernel)
    np.testing.assert_allclose(found.expectation(model.backup(v)).ravel(), A.T @ targets)
    np.testing.assert_allclose(found.expectation(model.ones()).ravel(), A.sum(axis=0))
    variance = kernel.diag(ZQ) - np.einsum("ij,ij->j", kernel(Z, ZQ), A)
    np.testing.assert_allclose(found.std().ravel() ** 2, variance, atol=1e-12)
    np.testing.assert_allclose(found.weight_norm1().ravel(), np.abs(A).sum(axis=0))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_frozen_view_and_the_grid_of_the_support_say_the_same_and_the_view_does_not_change(kernel: Kernel) -> None:
    model = learned(kernel)
    coef, view = model.backup(np.asarray(model.support)[:, 1]), model.freeze()
    before = view.grid(np.asarray(model.support)).expectation(coef)
    np.testing.assert_allclose(model.grid().expectation(coef), before)
    model.update(Transitions.of(Z[:3], NEXT[:3], 9.0 + REWARDS[:3]))
    np.testing.assert_array_equal(view.grid(NEXT).expectation(coef), before)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_weights_of_a_target_at_the_centres_give_its_means(kernel: Kernel) -> None:
    model = learned(kernel)
    coef, view = model.backup(np.asarray(model.support)[:, 1]), model.freeze()
    weights, groups = view.weights_at_centres(coef), view.centres
    means = view.grid(ASKED).expectation(coef)
    if len(groups) == 1:
        np.testing.assert_allclose((kernel(ZQ, groups[0]) @ weights).reshape(4, 3), means)
    else:  # one group of states for each action
        stops = np.cumsum([len(points) for points in groups])[:-1]
        for points, w, column in zip(groups, np.split(weights, stops), means.T, strict=True):
            expected = RBF(0.5)(ASKED, points) @ w if len(points) else np.zeros(4)  # never played
            np.testing.assert_allclose(expected, column)


@pytest.mark.parametrize("name", ["product", "neither"])
def test_slopes_in_the_action_are_differences_of_means_and_variances(name: str) -> None:
    model = learned(KERNELS[name])
    coef, view, z, eps = model.backup(np.asarray(model.support)[:, 0]), model.freeze(), ZQ[4], 1e-5

    def at(action: float) -> tuple[float, float]:
        moved = view.with_actions(np.array([[action]]))
        grid = moved.grid(z[None, :2])
        return float(grid.expectation(coef)[0, 0]), float(grid.std()[0, 0] ** 2)

    (up, var_up), (down, var_down) = at(z[2] + eps), at(z[2] - eps)
    np.testing.assert_allclose(view.mean_slope(coef, z), [(up - down) / (2 * eps)], rtol=1e-4)
    np.testing.assert_allclose(view.variance_slope(z), [(var_up - var_down) / (2 * eps)], rtol=1e-4)


def test_only_a_kernel_that_does_not_separate_actions_can_be_asked_for_others() -> None:
    assert learned(KERNELS["split"]).freeze().with_actions(np.array([[0.5]])) is None
    layout = Layout(KERNELS["split"], ACTIONS)
    assert (layout.split, layout.product, layout.action_dims) == (True, False, 1)
    np.testing.assert_array_equal(layout.state_actions(ASKED), ZQ)
