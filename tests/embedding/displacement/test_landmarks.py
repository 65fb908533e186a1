"""Landmarks: where they are, and how smooth V is between them."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.landmarks import choose_landmarks
from cmerl.embedding.displacement.settings import DisplacementSettings
from cmerl.transitions import Transitions


def test_few_landmarks_are_as_far_apart_as_they_are() -> None:
    states = np.linspace(0.0, 1.0, 21)[:20, None]  # a line of 21 points at equal distances, which nothing leaves
    Z = np.hstack([states, np.zeros((20, 1))])
    found = DisplacementEmbedding(np.zeros((1, 1)), categorical=True, settings=DisplacementSettings(reach=1))
    found.update(Transitions.of(Z, states + 0.05))
    view = found.view
    assert len(view.landmarks) == 21
    apart = np.diff(np.sort(view.landmarks[:, 0]))
    np.testing.assert_allclose(apart, apart[0])
    # 11 of them, chosen as far apart as can be, leave others at their own distance or at twice that: half of it
    assert 0.5 <= float(view.kernel.lengthscale) / (found.settings.smoothness * apart[0]) <= 1.0


def test_a_last_state_is_a_landmark_unless_the_episode_ended_there() -> None:
    path = np.array([[0.0], [1.0], [2.0], [30.0]])  # the others are both a state and the next one
    walks = [path, -path]
    Z = np.vstack([np.hstack([p[:-1], np.zeros((3, 1))]) for p in walks])
    nexts = np.vstack([p[1:] for p in walks])
    ended = np.array([False, False, False, False, False, True])
    found = DisplacementEmbedding(np.array([[0.0]]), categorical=True)
    found.update(Transitions.of(Z, nexts, np.zeros(6), ended))
    support = found.support[:, 0]
    for state in (0.0, 1.0, 2.0, 30.0, -1.0, -2.0):
        assert np.abs(support - state).min() < 0.1
    assert np.abs(support + 30.0).min() > 0.1


def test_they_are_fewer_where_actions_are_many_and_the_factor_is_that_of_their_kernel() -> None:
    rng = np.random.default_rng(0)
    x, a = rng.random((80, 2)), rng.integers(2, size=(80, 1))
    model = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    model.update(Transitions.of(np.hstack([x, a]), x + 0.05))
    settings = DisplacementSettings(landmarks=60, most_weights=5000)
    assert [len(choose_landmarks(model.dynamics, A, settings).states) for A in (1, 2, 50)] == [60, 50, 10]
    states, kernel, factor = choose_landmarks(model.dynamics, 50, settings)
    K = kernel(states, states) + 1e-6 * np.eye(10)
    np.testing.assert_allclose(factor.solve(K), np.eye(10), atol=1e-8)


def test_they_reach_ahead_of_the_data() -> None:
    x = np.linspace(0.0, 1.0, 40)[:, None]
    model = DisplacementEmbedding(np.zeros((1, 1)), categorical=True)
    model.update(Transitions.of(np.hstack([x, np.zeros((40, 1))]), x + 0.05))
    near, far = (
        choose_landmarks(model.dynamics, 1, DisplacementSettings(reach=reach)).states.max() for reach in (1, 5)
    )
    step = 0.05 / model.units.scale[0]
    assert far - near == pytest.approx(4 * step, rel=0.1)
