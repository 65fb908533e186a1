"""check_agent: every agent of the project passes."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

import cmerl
from cmerl import agents
from cmerl.checking.agent_checks import CHECKS
from cmerl.errors import InputError


@pytest.mark.parametrize("name", agents.names())
def test_every_registered_agent_passes(name: str) -> None:
    report = cmerl.check_agent(name)
    assert report.ok, str(report)
    assert report.checks == tuple(CHECKS)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ucbvi-ch", {"theory": True}),
        ("ucbvi-bf", {"theory": True}),
        ("ucrl2", {"theory": True}),
        ("kl-ucrl", {"theory": True}),
        ("q-learning", {"theory": True}),
        ("q-learning", {"bonus": "bernstein"}),
        ("psrl", {"reward_model": "gaussian"}),
    ],
)
def test_so_do_their_variants(name: str, options: dict[str, Any]) -> None:
    report = cmerl.check_agent(lambda env, **given: agents.make(name, env, **given, **options))
    assert report.ok, str(report)


def test_worlds_may_be_given() -> None:
    for env in ("FrozenLake-v1", gymnasium.make("FrozenLake-v1"), lambda: gymnasium.make("FrozenLake-v1")):
        assert cmerl.check_agent("psrl", env, only=["history", "saving"]).ok
    assert str(cmerl.check_agent("psrl", only=["ties"])) == "no problems found\nchecked: ties"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("psrl", 3), {}, "env must be an environment"),
        (("nobody",), {}, "there is no agent 'nobody'"),
        ((7,), {}, "agent must be a class"),
        (("psrl",), {"only": ["tie"]}, "there is no check 'tie'"),
    ],
)
def test_what_cannot_be_checked_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cmerl.check_agent(*arguments, **options)
