"""Scores of sequences, and searches that continue from one another."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.searching.episode import Searches, scorer
from cmerl.searching.icem import Channels, Search
from cmerl.searching.simulator import Regression, Simulator


def step(x: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A walk that pays the action and ends beyond 2."""
    y = x + a
    return y, a[:, 0], y[:, 0] > 2.0


def value(y: np.ndarray) -> np.ndarray:
    return np.asarray(10.0 * y[:, 0], dtype=np.float32)


def test_a_sequence_is_worth_what_it_earns_and_the_value_of_where_it_leads() -> None:
    sequences = np.array([[[[1.0], [0.5], [9.0]], [[1.0], [2.0], [9.0]]]], np.float32)  # two steps of three count
    x = np.zeros((1, 1), np.float32)
    score = scorer(step, x, 2, 0.5, value)
    mean, optimistic = score(sequences)
    np.testing.assert_allclose(mean, [[1.0 + 0.5 * 0.5 + 0.25 * 15.0, 1.0 + 0.5 * 2.0]])  # the second has ended
    assert optimistic is None
    twice, upper = scorer(step, x, 2, 0.5, value, lambda y: 2.0 * value(y))(sequences)
    np.testing.assert_array_equal(twice, mean)
    np.testing.assert_allclose(upper, [[1.0 + 0.25 + 0.25 * 30.0, 2.0]])


def test_at_the_end_of_an_episode_nothing_follows() -> None:
    mean, optimistic = scorer(step, np.zeros((1, 1), np.float32), 1, 0.5, None)(
        np.full((1, 1, 1, 1), 0.5, np.float32)
    )
    assert mean.item() == 0.5
    assert optimistic is None


NOTHING = Regression(
    np.zeros((5, 0), np.float32), np.zeros((0, 1), np.float32), np.zeros(2, np.float32), np.ones(1, np.float32)
)
MODEL = Simulator(
    NOTHING, NOTHING, False, np.full(1, 0.25, np.float32), np.full(1, 9.0, np.float32), (np.float32(1.0),) * 2, None
)
"""Every step moves the state by 0.25, and pays 1."""
ORIGIN = np.zeros((1, 1), np.float32)


def searches(every: int) -> Searches:
    return Searches(Channels(continuous=1), Search(samples=4, rounds=1, first_rounds=1), every, 6, MODEL, (3,))


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_search_is_made_every_few_steps_and_continues_from_the_last(every: int) -> None:
    held = searches(every)
    assert held.due(1, 0)
    assert not held.goes_on(1, 0)
    made = []
    for at in range(7):
        if held.due(1, at):
            assert held.goes_on(1, at) is (at > 0)
            held.search(scorer(step, ORIGIN, 6, 1.0, None), ORIGIN, at, 0.0, None)
            made.append(at)
        np.testing.assert_array_equal(held.features(at), np.clip(held.found.best[:, at - held.decided], -1, 1))
    assert made == list(range(0, 7, every))


def test_a_step_back_or_other_states_begin_anew() -> None:
    held, score = searches(2), scorer(step, np.zeros((1, 1), np.float32), 6, 1.0, None)
    held.search(score, ORIGIN, 4, 0.0, None)
    assert not held.due(1, 5)
    assert held.due(1, 4)
    assert held.due(1, 3)
    assert held.due(2, 5)
    assert not held.goes_on(2, 6)
    assert not held.goes_on(1, 7)


def test_the_same_seed_finds_the_same() -> None:
    score = scorer(step, np.zeros((1, 1), np.float32), 6, 1.0, value)
    one, other = (searches(1).search(score, ORIGIN, 0, 0.0, None) for _ in range(2))
    np.testing.assert_array_equal(one.best, other.best)


@pytest.mark.parametrize(
    ("state", "at", "led"), [(1.25, 1, True), (1.45, 1, True), (1.55, 1, False), (0.95, 1, False), (1.25, 2, False)]
)
def test_an_action_has_led_to_a_state_within_a_usual_displacement_at_the_next_step(
    state: float, at: int, led: bool
) -> None:
    held = searches(2)
    assert not held.led_to(np.array([[state]]), at)
    held.played(np.ones((1, 1)), np.zeros((1, 1)), 0)
    assert held.led_to(np.array([[state]]), at) is led
