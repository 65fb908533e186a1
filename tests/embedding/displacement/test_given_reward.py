"""Learned motion with a given reward function: every way to step pays what the function says."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding import DisplacementEmbedding
from cmerl.transitions import Transitions

ACTIONS = np.array([[-1.0], [1.0]])


def paid(x: np.ndarray, a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of all three, so that any mistake shows."""
    return np.asarray(x[:, 0] ** 2 + 0.3 * a[:, 0] - 2.0 * y[:, 0])


def learned(*, terminates: bool = False, told: float = -9.0) -> DisplacementEmbedding:
    """A walk whose recorded rewards are wrong: the function counts."""
    rng = np.random.default_rng(0)
    x, a = rng.uniform(-1.0, 1.0, (150, 1)), rng.choice([-1.0, 1.0], (150, 1))
    y = x + 0.1 * a
    made = DisplacementEmbedding(ACTIONS, categorical=True, reward=paid)
    made.update(Transitions.of(np.hstack([x, a]), y, np.full(150, told), (y[:, 0] > 1.0) & terminates))
    return made


STATES, WHICH = np.array([[-0.5], [0.1], [0.7]]), np.array([0, 1, 1])


def test_a_step_pays_what_the_function_says_of_where_it_leads() -> None:
    model = learned()
    there, rewards, _ = model.step(STATES, WHICH)
    np.testing.assert_allclose(there, STATES + 0.1 * ACTIONS[WHICH], atol=0.02)
    np.testing.assert_allclose(rewards, paid(STATES, ACTIONS[WHICH], there))


def test_searches_are_paid_the_same() -> None:
    view = learned().freeze()
    x = view.scaled(STATES)
    features = view.actions[WHICH]
    y, r, _ = view.dynamics.quick_step(x.astype(np.float32), features.astype(np.float32))
    there = y * view.scale + view.centre
    np.testing.assert_allclose(r, paid(STATES, ACTIONS[WHICH], there), atol=1e-4)


def test_a_plan_that_holds_an_action_is_paid_at_every_step() -> None:
    model = learned().with_repeat(2, sure=True)
    earned = model.grid(STATES).expectation(model.backup(np.zeros(len(model.support))))
    one = learned()
    for which in range(2):
        state, total = STATES, np.zeros(3)
        for _ in range(2):
            state, rewards, _ = one.step(state, np.full(3, which))
            total = total + rewards
        np.testing.assert_allclose(earned[:, which], total, atol=2e-3)


@pytest.mark.parametrize("terminates", [False, True])
def test_the_range_covers_what_the_function_pays_in_the_model(terminates: bool) -> None:
    model = learned(terminates=terminates, told=1.0)
    lo, hi = model.freeze().dynamics.reward_bounds
    x = np.linspace(-1.0, 1.0, 50)[:, None]
    for action in ACTIONS:
        found = paid(x, np.repeat(action[None], 50, axis=0), x)
        assert lo <= found.min() + 0.1
        assert hi >= found.max() - 0.1
    assert not terminates or lo <= 0.0 <= hi  # after an end a step pays 0
