"""The bonus of every step: where it is needed, and norms of V carried backwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cmerl.confidence import FailureBudget, Mode, Practical, Problem, Split, Tight, ValueNorms
from cmerl.embedding import ExactEmbedding
from cmerl.kernels import Delta, StateAction
from cmerl.planning import Task, clip_value
from cmerl.planning.bonuses import Bonuses
from cmerl.planning.site import Basis, Site, Stage
from cmerl.transitions import Transitions

S, A, H = 4, 2, 3
STATES, ACTIONS = np.arange(float(S))[:, None], np.arange(float(A))[:, None]


def model() -> ExactEmbedding:
    rng = np.random.default_rng(0)
    made = ExactEmbedding(StateAction(Delta(), Delta()), 0.5, ACTIONS, track_std=True)
    Z = np.column_stack([rng.integers(S, size=20), rng.integers(A, size=20)]).astype(float)
    made.update(Transitions.of(Z, rng.integers(S, size=(20, 1)).astype(float), rng.random(20)))
    return made


def bonuses(mode: Mode, *, learned: bool = True, **task: Any) -> tuple[Bonuses, ExactEmbedding, Task]:
    made = model()
    problem = Problem(
        H, 1.0, made.kernel, Delta(), (S, A), FailureBudget(0.1, learned_reward=learned), B_V=9.0, B_P=3.0, B_R=3.0
    )
    about = Task(problem, mode, 0.0, states=STATES, **task)
    return Bonuses([made], about, [Basis.of(made, about)], 1, 1.0), made, about


def test_a_mode_without_a_bonus_has_none_at_any_step() -> None:
    held, made, _ = bonuses(Practical())
    assert not any(any(term) for step in range(H) for term in held.at(made, step, 1))


def test_at_the_last_step_there_is_no_value_to_be_optimistic_about() -> None:
    held, made, _ = bonuses(Tight())
    terms = [held.at(made, step, 1)[0] for step in range(H)]
    assert any(terms[0])
    assert any(terms[1])
    assert not any(terms[2])  # rewards have their own bonus


def test_the_excess_is_computed_only_where_it_is_asked_for() -> None:
    held, made, _ = bonuses(Tight())
    assert not any(held.at(made, 0, 1)[1])
    asked, made, _ = bonuses(Tight(), with_excess=True)
    assert any(asked.at(made, 0, 1)[1])


def test_norms_of_a_mode_that_needs_them_are_those_of_the_value_that_was_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[ValueNorms] = []
    original = Split.bonus

    def watched(self: Split, *arguments: Any, norms: ValueNorms, **options: Any) -> Any:
        seen.append(norms)
        return original(self, *arguments, norms=norms, **options)

    monkeypatch.setattr(Split, "bonus", watched)
    held, made, about = bonuses(Split())
    held.at(made, 1, 1)
    assert seen[-1] == ValueNorms(0.0, 0.0)  # nothing follows the last step
    terms = held.at(made, 1, 1)[0]
    stage = Stage(made.backup(np.zeros(S)), 0.0, 0.0, terms, terms, H)
    held.advance(stage, 2)
    held.at(made, 1, 1)
    site = Site(made.grid(STATES), STATES, about, Basis.of(made, about), 1.0)
    v = clip_value(site.q(stage).max(axis=1), about, 2, 1.0)
    assert seen[-1].norm == pytest.approx(np.linalg.norm(v))  # a delta kernel makes norms Euclidean
    assert seen[-1].centred == pytest.approx(np.linalg.norm(v - v.mean()))
