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


def step_by_step(embedding: DisplacementEmbedding, x: np.ndarray, which: list[int]) -> tuple[np.ndarray, list, bool]:
    dynamics, rewards, y, over = embedding.view.dynamics, [], x[None], False
    for action in which:
        y, r, ended = dynamics.step(y, embedding.view.actions[[action]])
        rewards.append(0.0 if over else float(r[0]))
        over = over or bool(ended[0])
    return y[0], rewards, over


@pytest.mark.parametrize("start", [(0.2, 0.3), (0.5, 0.9), (0.72, 0.93)])
def test_following_sequences_is_stepping_through_each(
    embedding: DisplacementEmbedding, start: tuple[float, float]
) -> None:
    x = embedding.view.scaled(np.array(start))
    trials = np.random.default_rng(1).integers(0, 2, (6, 5))
    y, rewards, ended = embedding.view.dynamics.follow(x, trials, 1, 5)
    expected = [step_by_step(embedding, x, list(trial)) for trial in trials]
    np.testing.assert_allclose(y, [e[0] for e in expected], atol=1e-5)
    np.testing.assert_allclose(rewards.T, [e[1] for e in expected], atol=1e-5)
    np.testing.assert_array_equal(ended, [e[2] for e in expected])
    assert ended.any() == (start[1] >= 0.9)


def test_an_action_that_is_held_earns_what_it_does_in_the_middle(embedding: DisplacementEmbedding) -> None:
    x = embedding.view.scaled(np.array([0.2, 0.3]))
    y, rewards, _ = embedding.view.dynamics.follow(x, np.array([[1, 0, 1]]), 3, 8)  # the last is cut short
    last, stepwise, _ = step_by_step(embedding, x, [1, 1, 1, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(y[0], last, atol=1e-5)
    np.testing.assert_allclose(rewards[:, 0], np.array(stepwise)[[1, 1, 1, 4, 4, 4, 7, 7]], atol=1e-5)
