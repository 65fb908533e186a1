"""Following sequences of actions through a learned motion."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.transitions import Transitions


@pytest.fixture(scope="module")
def embedding() -> DisplacementEmbedding:
    """A walk in a square that costs least far right, and ends above 0.95."""
    rng = np.random.default_rng(0)
    states, actions = rng.random((200, 2)), rng.integers(2, size=(200, 1))
    nexts = states + np.hstack([0.1 * actions - 0.05, 0.08 * np.sin(4.0 * states[:, :1])])
    rewards = np.sin(1.5 * states[:, 0]) - 1.5
    found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    found.update(Transitions.of(np.hstack([states, actions]), nexts, rewards, nexts[:, 1] > 0.95))
    return found


@pytest.mark.parametrize("start", [(0.2, 0.3), (0.5, 0.9), (0.72, 0.93)])
def test_single_precision_is_close_and_ends_where_double_does(
    embedding: DisplacementEmbedding, start: tuple[float, float]
) -> None:
    dynamics = embedding.view.dynamics
    x = embedding.view.scaled(np.array([start, start]))
    for _ in range(5):
        a = np.eye(2)
        y, r, ended = dynamics.step(x, a)
        quick = dynamics.quick_step(x.astype(np.float32), a.astype(np.float32))
        np.testing.assert_allclose(quick[0], y, atol=1e-3)
        np.testing.assert_allclose(quick[1], r, atol=1e-3)
        np.testing.assert_array_equal(quick[2], ended)
        x = y


def test_rows_know_where_their_episode_breaks_off() -> None:
    x = np.array([0.0, 0.1, 0.2, 5.0, 5.1])[:, None]
    y = np.array([0.1, 0.2, 0.3, 5.1, 5.2])[:, None]
    found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    found.update(Transitions.of(np.hstack([x, np.array([[0], [1], [0], [1], [0]])]), y, np.arange(5.0)))
    np.testing.assert_array_equal(found.dynamics.last_of_episode, [2, 2, 2, 4, 4])
    assert found.dynamics.latest_length == 2
