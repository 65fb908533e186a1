"""Rows that kernels are fitted to."""

from __future__ import annotations

import numpy as np

from cmerl.embedding.displacement.fit_rows import reward_rows, rows_to_fit, spread_rows
from cmerl.embedding.displacement.motion import Motion


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


def test_of_a_state_that_rests_few_rows_are_taken_and_both_sides_of_a_step_in_reward() -> None:
    rng = np.random.default_rng(0)
    line, rest = np.linspace(-2.0, 2.0, 40), np.full(400, 0.5)
    x = np.concatenate([line, rest])[:, None] + 0.01 * rng.normal(size=(440, 1))
    rewards = (x[:, 0] > 0.5).astype(float)  # at rest it is paid now and then
    data = Motion(x, np.zeros((440, 1)), x, rewards, np.zeros(440, dtype=bool))
    rows = spread_rows(data, 40)
    assert len(rows) == 40
    assert np.all(np.diff(rows) > 0)
    resting = rows[rows >= 40]
    assert len(resting) <= 4
    assert set(rewards[resting]) == {0.0, 1.0}
    without = spread_rows(Motion(x, data.a, x, np.zeros(440), data.ended), 40)
    assert len(without) == 40  # rewards that are all alike do no harm
