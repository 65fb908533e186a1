"""A displacement at states × actions: weights, mass and novelty say the same as means."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.transitions import Transitions

ACTIONS = np.array([[0.0], [1.0]])


@pytest.fixture(scope="module")
def model() -> DisplacementEmbedding:
    """Pushes to the left and to the right on a line that ends beyond 0.9 and pays the state."""
    rng = np.random.default_rng(0)
    x, a = rng.uniform(0.2, 0.9, (400, 1)), rng.integers(2, size=(400, 1))
    y = x + 0.1 * a - 0.05
    made = DisplacementEmbedding(ACTIONS, categorical=True, lam=0.5)
    made.update(Transitions.of(np.hstack([x, a]), y, x[:, 0], y[:, 0] > 0.9))
    return made


STATES = np.array([[0.3], [0.55], [0.84], [-3.0]])


def test_the_mass_is_what_novelty_leaves(model: DisplacementEmbedding) -> None:
    grid = model.grid(STATES)
    mass = grid.expectation(model.ones())
    np.testing.assert_allclose(mass, 1.0 - grid.std() ** 2)
    assert mass[:3].min() > 0.9
    assert mass[3].max() < 0.1  # far from all data


def test_a_mean_is_the_sum_of_the_weights_on_the_values_of_landmarks(model: DisplacementEmbedding) -> None:
    v = np.sin(3.0 * model.support[:, 0])
    grid = model.grid(STATES)
    means = grid.expectation(model.backup(v, reward=0.0))
    np.testing.assert_allclose((grid.weights() @ v).reshape(means.shape), means, atol=1e-3)


def test_an_end_has_no_weight_and_the_terminal_value(model: DisplacementEmbedding) -> None:
    there = np.array([[0.88]])  # the second action leads beyond 0.9
    grid = model.grid(there)
    W = grid.weights().sum(axis=1)
    assert W[0] > 0.9
    assert W[1] == 0.0
    v = np.zeros(len(model.support))
    paid = [grid.expectation(model.backup(v, reward=0.0, terminal=t))[0] for t in (0.0, 8.0)]
    assert paid[0] == pytest.approx([0.0, 0.0], abs=1e-4)
    assert paid[1] == pytest.approx([0.0, 8.0 * grid.expectation(model.ones())[0, 1]], abs=1e-4)


def test_a_view_that_is_sure_takes_the_mean_for_the_truth(model: DisplacementEmbedding) -> None:
    sure = model.with_repeat(1, sure=True)
    np.testing.assert_array_equal(sure.grid(STATES).std(), 0.0)
    v = model.support[:, 0]
    there = STATES[:2]
    found = sure.grid(there).expectation(sure.backup(v, reward=0.0))
    np.testing.assert_allclose(found, there + 0.1 * ACTIONS.T - 0.05, atol=0.02)  # V(s') of the known push


def test_other_actions_and_one_of_them_are_the_same_model(model: DisplacementEmbedding) -> None:
    view, coef = model.freeze(), model.backup(model.support[:, 0])
    both = view.grid(STATES).expectation(coef)
    for which in range(2):
        np.testing.assert_allclose(view.of(which).grid(STATES).expectation(coef)[:, 0], both[:, which], atol=1e-4)


def test_the_weights_of_a_target_at_landmarks_give_its_values(model: DisplacementEmbedding) -> None:
    view = model.freeze()
    coef = model.backup(np.cos(2.0 * model.support[:, 0]))
    weights, mean = view.weights_at_landmarks(coef)
    y = np.linspace(-1.0, 1.0, 5)[:, None]
    np.testing.assert_allclose(view.kernel(y, view.landmarks) @ weights + mean, view.value(coef, y), atol=1e-3)
