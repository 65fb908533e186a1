"""Candidates to balance: from small to large, with a floor for all of them together."""

from __future__ import annotations

import math

import gymnasium
import pytest

from cmerl.agents.cme_rl.balanced import BalancedAgent, balanced
from cmerl.confidence import Balanced, Tight
from cmerl.errors import InputError


def test_misspecifications_are_nothing_and_halves_of_the_horizon() -> None:
    found = balanced("zeta", None, horizon=8, delta=0.1)
    assert [c.mode.zeta for c in found.candidates] == [0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0]


@pytest.mark.parametrize("count", [1, 4])
def test_the_floor_covers_all_candidates(count: int) -> None:
    found = balanced("zeta", [0.1 * i for i in range(count)], horizon=8, delta=0.1)
    assert found.floor == pytest.approx(math.sqrt(2 * 8 * math.log(2 * count / 0.1)))


def test_values_are_sorted_and_named() -> None:
    found = balanced("B_V", [5.0, 2.0], horizon=8, delta=0.1)
    assert [(c.label, c.B_V) for c in found.candidates] == [("B_V 2", 2.0), ("B_V 5", 5.0)]
    assert all(isinstance(c.mode, Tight) for c in found.candidates)
    assert balanced("scale", None, horizon=8, delta=0.1) == Balanced()


@pytest.mark.parametrize(
    ("over", "values", "says"),
    [("B_V", None, "needs values"), ("zeta", [], "at least one"), ("width", [1.0], "'scale', 'zeta' or 'B_V'")],
)
def test_what_cannot_be_balanced_is_refused(over: str, values: list[float] | None, says: str) -> None:
    with pytest.raises(InputError, match=says):
        balanced(over, values, horizon=8, delta=0.1)


def test_it_takes_an_environment() -> None:
    with pytest.raises(InputError, match="Gymnasium environment"):
        BalancedAgent("RiverSwim")
    agent = BalancedAgent(gymnasium.make("cmerl/RiverSwim-v0"), seed=0, over="zeta", values=[0.5, 0.0])
    assert [c.label for c in agent.mode.candidates] == ["zeta 0", "zeta 0.5"]
