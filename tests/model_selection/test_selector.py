"""The selector: one clock, a choice at the end of an episode, and the first reward that differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from walks import learned, slippery_cells, walk

from cmerl.acting import MPC, Greedy
from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import RBF, Matern
from cmerl.model_selection import Choice, Selection, Selector, selector
from cmerl.transitions import Transitions

KERNELS = RBF(0.1), Matern(1.5, 0.1)
STARTS = np.full((2, 2), 0.5)


def made(model: str = "auto", **settings: Any) -> Selector:
    return Selector(model, 10, 0.1, Selection(**settings))


def choose(held: Selector, data: Transitions, model: DisplacementEmbedding | None = None) -> None:
    held.choose(model or learned(data), KERNELS, STARTS, STARTS)


def test_the_clock_strikes_at_the_first_data_and_then_whenever_they_have_doubled() -> None:
    held = made()
    struck = [n for n in range(1, 101) if held.doubled(n)]
    assert struck == [1, 2, 4, 8, 16, 32, 64]
    uneven = made()
    assert [n for n in (30, 50, 59, 60, 100, 121) if uneven.doubled(n)] == [30, 60, 121]


def test_a_choice_waits_for_the_end_of_an_episode_and_is_made_once() -> None:
    held, data = made(), walk(0.0)
    assert not held.due  # nothing was seen
    assert held.waits(1)  # the first data will be as many as ever
    held.doubled(len(data))
    assert held.due
    choose(held, data)
    assert held.choice.displacement is not None
    assert not held.due
    assert not held.waits(2 * len(data) - 1)
    assert held.waits(2 * len(data))


def test_a_model_that_was_given_leaves_nothing_to_choose() -> None:
    held = made("direct")
    assert held.doubled(30)  # kernels follow the same clock
    assert not held.due
    assert not held.waits(60)


@pytest.mark.parametrize(("model", "found"), [("auto", False), ("displacement", True)])
def test_a_displacement_that_was_asked_for_is_not_compared(model: str, found: bool) -> None:
    held = made(model)
    choose(held, slippery_cells(600))  # no mean and residuals describe them
    assert (held.choice.displacement is not None) is found


@pytest.mark.parametrize(
    ("attained", "columns", "settings", "found"),
    [
        (0.59, 2, {}, True),
        (0.61, 2, {}, False),
        (0.61, 3, {}, True),  # too many places to try them all
        (0.61, 2, {"attained": 0.7}, True),
        (0.61, 2, {"most_columns": 1}, True),
    ],
)
def test_where_most_of_the_best_reward_is_attained_the_model_that_tries_every_place_takes_over(
    attained: float, columns: int, settings: dict[str, Any], found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, model, at = made(**settings), learned(walk(0.0)), np.full((2, columns), 0.5)
    monkeypatch.setattr(selector, "choose_actor", lambda model, *_: Choice(model, Greedy(), {}))
    held.choose(model, KERNELS, at, at, attained=attained)
    assert (held.choice.displacement is not None) is found
    assert ("61%" in held.choice.reasons.get("model", "")) is not found


def test_a_displacement_is_given_up_when_the_data_speak_against_it() -> None:
    held = made()
    choose(held, walk(0.0))
    assert held.choice.displacement is not None
    choose(held, slippery_cells(600))
    assert held.choice.displacement is None
    assert held.choice.actor == Greedy()


def test_the_first_reward_of_a_place_calls_for_a_choice_at_once() -> None:
    held, data = made(), walk(0.0)
    held.doubled(len(data))
    choose(held, data)  # every step pays −1
    model = held.choice.displacement
    assert model is not None
    assert not held.choice.compared
    assert not held.due
    places = np.asarray(data.Z)[:, 0]
    model.update(replace(data, rewards=np.where(places > 0.5, 5.0, -1.0)))
    assert held.due
    choose(held, data, model)
    assert held.choice.compared
    assert not held.due


@pytest.mark.parametrize("actor", [Greedy(), MPC(value="plan"), MPC(depth=22)])
def test_a_choice_goes_through_json(actor: Greedy | MPC) -> None:
    held, again, model = made(), made(), learned(walk(0.0))
    held.choice = Choice(model, actor, {"action repeat": "1: −3"}, -3.0, True, -5.0)
    again.restore(held.spec(), model)
    for name in ("displacement", "actor", "reasons", "promised", "compared", "least"):
        assert getattr(again.choice, name) == getattr(held.choice, name)


def test_files_of_earlier_versions_do_not_say_how_far_a_search_looks() -> None:
    held, model = made(), learned(walk(0.0))
    held.choice = Choice(model, MPC(depth=22), {}, -3.0, True)
    spec = held.spec()
    del spec["depth"], spec["least"]
    held.restore(spec, model)
    assert held.choice.actor == MPC()
    assert held.choice.least == -np.inf


@pytest.mark.parametrize("keeps", [True, False])
def test_an_actor_that_breaks_its_promise_is_chosen_again_and_the_model_is_not(
    keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, model = made(), learned(walk(0.0))
    held.choice = before = Choice(model, MPC(), {}, -3.0, True, -5.0)
    after = Choice(model, MPC(depth=22), {}, -2.0, True, -4.0)
    monkeypatch.setattr(selector, "displacement_is_better", lambda *_: False)
    monkeypatch.setattr(selector, "checked", lambda choice, *_: (choice, keeps or choice is not before))
    monkeypatch.setattr(selector, "choose_actor", lambda *about: after if about[-1] is before else None)
    held.check(KERNELS[1], STARTS, STARTS)
    assert held.choice is (before if keeps else after)
    unchecked = made(check=False)
    unchecked.choice = before
    unchecked.check(KERNELS[1], STARTS, STARTS)
    assert unchecked.choice is before
