"""Exploration options: what is told, told again to a loaded agent, and refused."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from cmerl.agents.cme_rl.supervision import ExplorationOptions, Supervision
from cmerl.errors import InputError
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet

ENV = gymnasium.make("CartPole-v1")
STATES, ACTIONS = StateSpace.of(ENV.observation_space), ActionSet.of(ENV.action_space)


def supervision(**told: Any) -> Supervision:
    return Supervision.of(ExplorationOptions(**told), ENV, STATES, ACTIONS, 10)


def test_what_was_told_is_what_differs_from_the_default() -> None:
    assert ExplorationOptions().given == []
    assert ExplorationOptions(explore="greedy", exploratory_episodes=0).given == ["explore", "exploratory_episodes"]


def test_a_loaded_agent_must_be_told_again() -> None:
    given = {"limits": {0: (0.0, 1.0)}, "reward": "learned"}
    again = ExplorationOptions.again(["limits"], given)
    assert again.limits == {0: (0.0, 1.0)}
    assert given == {"reward": "learned"}  # what is not about exploration stays
    with pytest.raises(InputError, match="was told limits, which a file does not hold: pass limits"):
        ExplorationOptions.again(["limits"], {})


def test_limits_make_an_agent_cautious_and_nothing_else_does() -> None:
    assert supervision().explore == "optimistic"
    assert supervision().supervisor is None
    assert supervision(explore="greedy").supervisor is None
    bounded = supervision(limits={0: (-1.0, 1.0)})
    assert bounded.explore == "cautious"
    assert bounded.supervisor is not None
    assert supervision(limits={0: (-1.0, 1.0)}, explore="optimistic").supervisor is None


COUNTS = (({}, 9), ({"explore": "greedy"}, 0), ({"exploratory_episodes": 3}, 3))


@pytest.mark.parametrize(("told", "explores"), COUNTS, ids=str)
def test_so_many_episodes_explore(told: dict[str, Any], explores: int) -> None:
    found = supervision(**told)
    assert [found.explores(t) for t in range(9)] == [t < explores for t in range(9)]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"explore": "boldly"}, "'optimistic', 'cautious' or 'greedy'"),
        ({"explore": "cautious"}, "needs to know what to avoid"),
        ({"cost": 3, "cost_budget": 1.0}, "cost must be a function"),
        ({"cost": "fuel"}, "belong together"),
        ({"cost_budget": 1.0}, "belong together"),
        ({"exploratory_episodes": -1}, "whole number of at least 0"),
        ({"exploratory_episodes": True}, "whole number of at least 0"),
        ({"attitude": "gloomy"}, "'optimistic' or 'pessimistic'"),
        ({"attitude": "pessimistic", "explore": "greedy"}, "explore means nothing"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(told: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        supervision(**told)


def test_limits_need_the_environment() -> None:
    with pytest.raises(InputError, match="needs its environment"):
        Supervision.of(ExplorationOptions(limits={0: (0.0, 1.0)}), None, STATES, ACTIONS, 10)
