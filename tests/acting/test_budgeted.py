"""Exploring on a budget: the best by an optimistic plan among what a greedy plan finds cheap enough."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cmerl.acting.budgeted import BudgetedActor, ExplorationBudget
from cmerl.exploration import Allowance

ACTIONS, STATE = np.array([[-1.0], [0.0], [1.0]]), np.zeros((1, 1))


def plan(q: list[float], *, cap: float = 100.0, shift: float = 0.0, repeat: int = 1) -> Any:
    """A plan with the same Q everywhere."""
    return SimpleNamespace(
        q=lambda state, step: np.array([q]),
        best=lambda found, step: np.argmax(found, axis=1),
        shift=lambda step: shift,
        task=SimpleNamespace(cap=lambda step: cap),
        repeat=repeat,
    )


def actor(optimistic_q: list[float], greedy: Any, left: float) -> tuple[BudgetedActor, Allowance]:
    allowance, optimistic = Allowance(left, tie=1e-6), plan(optimistic_q)
    inner = SimpleNamespace(act=lambda state, step: np.array([9.0]))  # an actor may do better than any candidate
    return BudgetedActor(inner, optimistic, ACTIONS, ExplorationBudget(allowance, greedy)), allowance


@pytest.mark.parametrize(
    ("left", "played", "spent"),
    [(5.0, 9.0, 4.0), (4.0, 9.0, 4.0), (3.9, 0.0, 1.0), (1.0, 0.0, 1.0), (0.9, -1.0, 0.0), (-1.0, -1.0, 0.0)],
)
def test_the_most_optimistic_of_what_can_be_paid_is_played_and_charged(
    left: float, played: float, spent: float
) -> None:
    budgeted, allowance = actor([0.0, 5.0, 7.0], plan([6.0, 5.0, 2.0]), left)
    assert budgeted.act(STATE, 0)[0] == played  # the best by the optimistic plan is left to the actor inside
    assert (allowance.spent, allowance.promise) == (spent, 6.0)
    assert allowance.left == left - spent


def test_where_greedy_sees_no_difference_exploring_is_free() -> None:
    budgeted, allowance = actor([0.0, 1.0, 2.0], plan([3.0, 3.0, 3.0]), 0.0)
    assert budgeted.act(STATE, 0)[0] == 9.0
    assert (allowance.spent, allowance.deviations) == (0.0, 0)


def test_charges_are_clipped_as_values_are_and_shared_by_the_steps_of_a_held_action() -> None:
    greedy = plan([-2.0, 1.0, 9.0], cap=5.0, shift=-1.0, repeat=2)
    budgeted, _ = actor([0.0, 0.0, 0.0], greedy, 0.0)
    charges, promise = budgeted.charges(STATE, 0)  # counted from the least reward on: 0, 2 and 5
    np.testing.assert_allclose(charges, [2.5, 1.5, 0.0])
    assert promise == 4.0
