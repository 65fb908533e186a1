"""Action repeat and actor: what does best in simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from walks import learned, varied, walk

from cmerl.acting import MPC
from cmerl.acting import Greedy as ActGreedily
from cmerl.acting.terminal_value import terminal_value
from cmerl.embedding import DisplacementEmbedding
from cmerl.kernels import Matern
from cmerl.model_selection import Choice, Selection, actors, choose_actor
from cmerl.model_selection.kept_value import KeptValue
from cmerl.searching.values import TerminalValue


def chosen(
    model: DisplacementEmbedding,
    starts: int = 1,
    now: Choice | None = None,
    **settings: Any,
) -> Choice:
    places, selection = np.full((starts, 2), 0.5), Selection(**settings)
    return choose_actor(model, 10, places, Matern(1.5, 0.1), selection, now)


def repeat_of(choice: Choice) -> int:
    assert choice.displacement is not None
    return choice.displacement.repeat


def test_where_nothing_differs_actions_are_held_longest() -> None:
    found = chosen(learned(walk(0.0)))
    assert (repeat_of(found), found.actor) == (5, ActGreedily())


NOISE = np.array([-2.0, 2.0, -1.0, 1.0])  # differs from start to start and sums to 0


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ((-5.0, -4.0, -4.5, -6.0), 2),  # the best, however little certain that is
        ((-4.0, -4.5, -4.5, -4.0), 5),  # the longer of two that are as good
        ((-3.9, -4.0, -4.5, -5.0), 1),
    ],
)
def test_the_first_repeat_is_what_does_best(
    means: tuple[float, ...], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    returns = np.array(means)[:, None] + NOISE * np.arange(4)[:, None]
    monkeypatch.setattr(actors, "simulate", lambda *_: returns)
    assert repeat_of(chosen(varied(), 4)) == expected


@pytest.mark.parametrize(("gain", "expected"), [(0.7, 2), (1.0, 3)])  # the standard error is √(10/3)/2 = 0.91
def test_a_repeat_that_was_chosen_is_left_for_a_gain_beyond_its_standard_error(
    gain: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Choice(varied().with_repeat(2), ActGreedily(), {})
    monkeypatch.setattr(actors, "simulate", lambda *_: np.stack([NOISE - 9.0, 0.0 * NOISE, NOISE + gain]))
    assert repeat_of(chosen(now.displacement, 4, now)) == expected


def test_a_repeat_that_was_chosen_is_compared_with_its_neighbours_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def simulated(embedding: Any, plans: dict[int, Any], starts: Any, *_: int) -> np.ndarray:
        asked.append(tuple(plans))
        best = len(plans) - 1 if len(asked) == 1 else 0
        return np.where(np.arange(len(plans)) == best, 1.0, 0.0)[:, None] + np.zeros(len(starts))

    monkeypatch.setattr(actors, "simulate", simulated)
    now = chosen(varied(), 4)
    repeats = [repeat_of(now)]
    for _ in range(4):
        now = chosen(now.displacement, 4, now)
        repeats.append(repeat_of(now))
    assert asked == [(1, 2, 3, 5), (3, 5), (2, 3, 5), (1, 2, 3), (1, 2)]
    assert repeats == [5, 3, 2, 1, 1]


def test_a_repeat_that_is_no_candidate_is_compared_with_nothing_and_all_candidates_are_tried() -> None:
    model = varied().with_repeat(4)
    found = chosen(model, 2, Choice(model, ActGreedily(), {}))
    afresh = chosen(model, 2)
    assert repeat_of(found) == repeat_of(afresh) in Selection().repeats
    assert found.reasons == afresh.reasons


def test_repeats_are_compared_with_nothing_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def simulated(embedding: Any, plans: dict[int, Any], starts: Any, *_: int) -> np.ndarray:
        asked.update({0: embedding.view, **{k: plan.views[0] for k, plan in plans.items()}})
        return np.zeros((len(plans), len(starts)))

    monkeypatch.setattr(actors, "simulate", simulated)
    embedding = learned(walk(0.0))
    chosen(embedding)
    assert all(view.sure for view in asked.values())
    assert [view.repeat for k, view in asked.items() if k] == [k for k in asked if k] == list(Selection().repeats)
    assert not embedding.view.sure


FITTED, PLANNED = MPC(value="fitted"), MPC(value="plan")


@pytest.mark.parametrize(
    ("now", "gains", "expected"),
    [
        (None, {}, FITTED),  # as good as any: the search with a value of its own
        (None, {PLANNED: 1.0}, PLANNED),
        (None, {FITTED: -1.0}, ActGreedily()),  # the simplest of those that are as good
        (None, {FITTED: -1.0, PLANNED: -0.5}, ActGreedily()),
        (PLANNED, {}, PLANNED),  # no gain, no change
        (PLANNED, {FITTED: 0.5}, FITTED),
        (ActGreedily(), {FITTED: 0.5, PLANNED: 0.7}, PLANNED),
    ],
)
def test_an_actor_is_left_for_one_that_does_better_in_simulation(
    now: Any, gains: dict[Any, float], expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, base = varied().with_repeat(5), np.array([-5.0, -9.0, -7.0])
    monkeypatch.setattr(actors, "simulate", lambda model, plans, *_: np.tile(base, (len(plans), 1)))
    monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_: base + gains.get(mpc, 0.0))
    before = None if now is None else Choice(model, now, {}, compared=True)
    found = chosen(model, 3, before)
    assert (repeat_of(found), found.actor, found.compared) == (5, expected, True)
    assert found.promised == pytest.approx(-7.0 + gains.get(expected, 0.0))
    assert "plan alone -7" in found.reasons["simulated returns"]


NEAR, FAR = MPC(depth=8), MPC(depth=22)


@pytest.mark.parametrize(
    ("now", "gains", "expected"),
    [
        (None, {NEAR: 0.5, FAR: 1.0}, FAR),
        (None, {NEAR: 0.5, FAR: -1.0}, NEAR),
        (FAR, {}, FAR),
        (FAR, {NEAR: 9.0, FITTED: 0.5}, FITTED),  # one step on the ladder at a time
        (NEAR, {FAR: 9.0, FITTED: 0.5}, FITTED),
        (NEAR, {FITTED: -0.5, replace(NEAR, value="plan"): 1.0}, replace(NEAR, value="plan")),
        (replace(FAR, value="plan"), {replace(FITTED, value="plan"): 1.0}, replace(FITTED, value="plan")),
    ],
)
def test_searches_look_as_far_ahead_as_does_best_in_simulation(
    now: Any, gains: dict[Any, float], expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, zeros = varied().with_repeat(5), np.zeros(3)
    monkeypatch.setattr(actors, "simulate", lambda model, plans, *_: np.tile(zeros - 9.0, (len(plans), 1)))
    monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_: zeros + gains.get(mpc, 0.0))
    before = None if now is None else Choice(model, now, {}, compared=True)
    found = chosen(model, 3, before)
    assert found.actor == expected
    assert f"search of {expected.depth} steps with {expected.value} value" in found.reasons["simulated returns"]


def test_a_gain_within_its_standard_error_or_from_one_start_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = varied().with_repeat(5)
    for starts, gains in ((3, np.array([-2.0, 1.0, 2.0])), (1, np.array([5.0]))):
        zeros = np.zeros(starts)
        monkeypatch.setattr(actors, "simulate", lambda model, plans, *_, z=zeros: np.tile(z, (len(plans), 1)))
        monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_, g=gains: g if mpc == PLANNED else 0.0 * g)
        assert chosen(model, starts).actor == FITTED


def test_where_all_rewards_are_alike_nothing_is_searched_for_and_nothing_is_lost_by_exploring() -> None:
    found = chosen(learned(walk(0.0)))
    assert (found.actor, found.compared) == (ActGreedily(), False)
    assert found.promised == pytest.approx(-10.0)


@pytest.mark.parametrize(
    ("returns", "worst", "least"),
    [
        ([-5.0, -9.0, -7.0], -8.0, -13.0),  # the worst of its simulations, less what they differ by
        ([-5.0, -9.0, -7.0], -27.0, -17.0),  # half of the way to the worst actor
        ([3.0], 1.0, -np.inf),  # one start says nothing
    ],
)
def test_a_choice_knows_below_which_return_another_actor_is_worth_looking_for(
    returns: list[float], worst: float, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = np.array(returns)
    plan = found - found.mean() + worst
    monkeypatch.setattr(actors, "simulate", lambda model, plans, *_: np.tile(plan, (len(plans), 1)))
    monkeypatch.setattr(actors, "simulate_search", lambda mpc, *_: found if mpc == FITTED else (found + plan) / 2.0)
    assert chosen(varied(), len(returns)).least == pytest.approx(least)


@pytest.mark.parametrize("settings", [{"search": MPC(depth=10)}, {"depths": (8, 22)}, {"depths": ()}])
def test_the_first_search_is_a_candidate_whatever_the_depths_are(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = np.zeros(3)
    monkeypatch.setattr(actors, "simulate", lambda model, plans, *_: np.tile(zeros - 9.0, (len(plans), 1)))
    monkeypatch.setattr(actors, "simulate_search", lambda *_: zeros)
    assert chosen(varied(), 3, **settings).actor == Selection(**settings).search


def checked(choice: Choice, starts: np.ndarray) -> tuple[Choice, bool]:
    return actors.checked(choice, 10, starts, Matern(1.5, 0.1), Selection())


@pytest.mark.parametrize("actor", [FITTED, ActGreedily()], ids=["search", "plan"])
@pytest.mark.parametrize(("earned", "expected"), [(-13.1, False), (-12.9, True), (0.0, True)])
def test_an_actor_keeps_its_promise_if_it_does_no_worse_from_the_latest_start(
    actor: Any, earned: float, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, starts, asked = varied().with_repeat(2), np.array([[0.1, 0.1], [0.5, 0.5]]), []

    def searched(mpc: MPC, plan: Any, start: np.ndarray, steps: int, near: int) -> np.ndarray:
        assert mpc == actor
        asked.append(start)
        return np.array([earned, 5.0])

    def planned(embedding: Any, plans: dict[int, Any], start: np.ndarray, *_: int) -> np.ndarray:
        assert tuple(plans) == (2,)
        asked.append(start)
        return np.array([[earned]])

    monkeypatch.setattr(actors, "simulate_search", searched)
    monkeypatch.setattr(actors, "simulate", planned)
    assert checked(Choice(model, actor, {}, -7.0, True, least=-13.0), starts)[1] is expected
    np.testing.assert_array_equal(asked, [starts if actor == FITTED else starts[:1]])


def test_what_promised_nothing_is_not_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> np.ndarray:
        raise AssertionError("simulated")

    monkeypatch.setattr(actors, "simulate_search", never)
    monkeypatch.setattr(actors, "simulate", never)
    start = np.array([[0.5, 0.5]])
    for choice in (Choice(varied(), FITTED, {}), Choice(None, ActGreedily(), {}, least=5.0)):
        assert checked(choice, start) == (choice, True)


def terminal_value_of(model: DisplacementEmbedding) -> TerminalValue:
    return terminal_value(
        model.dynamics, FITTED.channels(model.view), 10, FITTED.terminal, FITTED.search, FITTED.policy
    )


@pytest.mark.parametrize(
    ("now", "then", "stays"),
    [
        ([9.0, 1.0], [4.0, 4.0], False),  # the new one does better on average
        ([3.0, 3.0], [3.0, 3.0], False),  # as well: it knows more
        ([2.0, 3.0], [1.0, 5.0], True),  # worse
    ],
)
def test_a_search_keeps_its_terminal_value_while_a_newer_one_does_worse(
    now: list[float], then: list[float], stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, starts = varied(), np.array([[0.1, 0.1], [0.5, 0.5]])
    kept = KeptValue(terminal_value_of(varied(120)), np.zeros(2), np.ones(2))
    new = terminal_value_of(varied(140))

    def searched(mpc: MPC, plan: Any, *_: Any) -> np.ndarray:
        values = plan.views[0].dynamics.terminal_values
        values.setdefault(10, new)
        return np.array(now if values[10] is new else then)

    monkeypatch.setattr(actors, "simulate_search", searched)
    found, _ = checked(Choice(model, FITTED, {}, compared=True, kept=kept), starts)
    assert found.kept is not None
    assert (found.kept.value is not new) is stays
    said = f"{np.mean(now):g} in simulation with the new one, {np.mean(then):g} with the one before"
    assert found.reasons["terminal value"] == said
    assert model.dynamics.terminal_values[10] is found.kept.value  # what searches end with
