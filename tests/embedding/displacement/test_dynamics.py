"""Following sequences of actions through a learned motion."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.dynamics import Motion, fit_shape, reward_rows, rows_to_fit
from cmerl.embedding.displacement.settings import DisplacementSettings
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
        np.testing.assert_allclose(quick[0], y, atol=1e-4)
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


def path(seed: int, push: float) -> Transitions:
    """A walk that swings: the action pushes, and the second column pulls back."""
    rng, x, rows = np.random.default_rng(seed), np.zeros(2), []
    for _ in range(120):
        a = rng.integers(2)
        y = x + np.array([0.2 * x[1], push * (2 * a - 1) - 0.2 * np.sin(x[0])])
        rows.append((*x, a, *y))
        x = y
    table = np.array(rows)
    return Transitions.of(table[:, :3], table[:, 3:], table[:, 0])


def test_a_search_from_one_start_may_take_all_for_noise_and_from_two_it_does_not() -> None:
    """The second column moves by ±0.1 − 0.2 sin x: nothing of it is noise."""
    ridges = {}
    for starts in ((2.0,), (2.0, 0.5)):
        settings = DisplacementSettings(starts=starts)
        found = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True, settings=settings)
        found.update(path(0, 0.1))
        ridges[starts] = found.shape.displacement[1].ridge
        missed = found.residuals(path(1, 0.1))[:, 1]
        assert bool(np.abs(missed).max() < 0.01) is (len(starts) == 2)
    assert ridges[(2.0,)] > 0.1
    assert ridges[(2.0, 0.5)] < 1e-4


def test_kernels_are_fitted_to_rows_spread_in_time_rare_and_late() -> None:
    rows = rows_to_fit(1000, np.array([3, 7, 401]), 60)
    assert len(rows) <= 60
    assert {3, 7, 401, *range(980, 1000)} <= set(rows.tolist())
    assert np.diff(rows).max() <= 60


def test_kernels_of_rewards_are_fitted_to_usual_rare_and_late_transitions() -> None:
    rewards = np.zeros(1000)
    rewards[[10, 500]] = 7.0, -7.0
    rows = reward_rows(rewards, 60)
    assert len(rows) <= 60
    assert {10, 500, *range(980, 1000)} <= set(rows.tolist())
    assert np.diff(rows).max() <= 60  # and nowhere in time is there a gap
    np.testing.assert_array_equal(reward_rows(rewards[:15], 60), np.arange(15))


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_of_rewards_resolves_a_spot(seed: int) -> None:
    """A bell of width 0.15 that a single path crosses: from a smooth start it is taken for noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.7, 1.7, (500, 3))
    x[:12, :2] = np.linspace(-0.5, 0.5, 12)[:, None]
    rewards = np.exp(-0.5 * np.square(x[:, :2] / 0.15).sum(axis=1))
    found = fit_shape(
        Motion(x, np.zeros((500, 1)), x + 0.1, rewards, np.zeros(500, dtype=bool)), DisplacementSettings()
    ).reward
    assert found is not None
    assert np.all(found.lengthscales[:2] < 0.3)
    assert found.lengthscales[2] > 3.0
    assert found.ridge < 1e-3
