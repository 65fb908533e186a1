"""A problem before any data: shares of δ, the diameter, and constants that always hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cmerl.confidence import FailureBudget, Problem
from cmerl.errors import InputError, MissingConstantError
from cmerl.kernels import RBF, Delta, Linear, StateAction


def problem(**changes: Any) -> Problem:
    about: dict[str, Any] = {
        "horizon": 5,
        "width": 2.0,
        "kernel": StateAction(Delta(), Delta()),
        "value_kernel": Delta(),
        "tabular": (6, 3),
        "budget": FailureBudget(0.12, learned_reward=True),
    }
    return Problem(**{**about, **changes})


def test_shares_of_all_that_can_fail_sum_to_delta() -> None:
    for learned in (True, False):
        for embeddings in (1, 4):
            found = problem(budget=FailureBudget(0.12, learned_reward=learned), embeddings=embeddings)
            total = embeddings * found.delta_transition + found.budget.share  # and the martingale
            total += embeddings * found.delta_reward if learned else 0.0
            assert total == pytest.approx(0.12)
    for delta in (0.0, 1.0, -1.0):
        with pytest.raises(InputError, match="between 0 and 1"):
            FailureBudget(delta, learned_reward=True)


def test_the_constants_of_delta_kernels_hold_for_every_finite_world() -> None:
    rng, (S, A) = np.random.default_rng(0), (6, 3)
    for _ in range(20):
        P, R = rng.dirichlet(0.2 * np.ones(S), size=(S, A)), rng.uniform(0.0, 2.0, (S, A))
        assert np.linalg.norm(P) <= problem().constant("B_P", "tight") + 1e-12
        assert np.linalg.norm(R) <= problem().constant("B_R", "tight")
    deterministic = np.eye(S)[rng.integers(S, size=(S, A))]
    assert np.linalg.norm(deterministic) == pytest.approx(problem().constant("B_P", "tight"))  # attained
    V = np.full(S, 3 * 2.0)  # the largest with three steps to go
    assert np.linalg.norm(V) == pytest.approx(problem().value_norm(3, "tight"))
    assert problem(terminations=True).value_norm(3, "tight") == pytest.approx(np.linalg.norm(np.append(V, 6.0)))


def test_the_end_of_an_episode_widens_the_diameter_where_states_are_close() -> None:
    assert problem().diameter == pytest.approx(math.sqrt(2.0))
    assert problem(terminations=True).diameter == pytest.approx(math.sqrt(2.0))
    small = 0.01 * RBF(0.5)
    assert problem(value_kernel=small).diameter == pytest.approx(math.sqrt(2.0) * 0.1)
    # an end is orthogonal to every state: ‖ψ(s) − e‖² = k(s, s) + 1
    assert problem(value_kernel=small, terminations=True).diameter == pytest.approx(math.sqrt(0.01 + 1.0))


def test_what_is_missing_is_named_at_once() -> None:
    smooth = problem(kernel=RBF(0.5), value_kernel=RBF(0.5), tabular=None)
    with pytest.raises(MissingConstantError, match="needs B_P and B_V and B_R"):
        smooth.require("tight", "B_P", "B_V")
    for ask in (lambda: smooth.constant("B_P", "tight"), lambda: smooth.value_norm(2, "tight")):
        with pytest.raises(MissingConstantError, match="no valid automatic"):
            ask()
    given = problem(kernel=RBF(0.5), value_kernel=RBF(0.5), tabular=None, B_P=1.5, B_V=2.5, B_R=3.5)
    given.require("tight", "B_P", "B_V")
    assert (given.constant("B_P", "tight"), given.value_norm(9, "tight")) == (1.5, 2.5)
    with pytest.raises(MissingConstantError, match="bounded value kernel"):
        problem(value_kernel=Linear()).require("tight")
