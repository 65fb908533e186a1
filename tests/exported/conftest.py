"""One exported policy on a ball, and one search in each of two worlds."""

from __future__ import annotations

from pathlib import Path

import pytest
from exports import BALL, DIRECT, WORLDS, learned, searcher

import cmerl


@pytest.fixture(scope="session")
def ball(tmp_path_factory: pytest.TempPathFactory) -> tuple[cmerl.CMERL, Path]:
    agent, path = learned(BALL, **DIRECT), tmp_path_factory.mktemp("ball") / "ball.policy"
    agent.policy(explore=False).export(path)
    return agent, path


@pytest.fixture(scope="session", params=WORLDS)
def agent(request: pytest.FixtureRequest) -> cmerl.CMERL:
    """Episodes end in one of the worlds, and actions are quantities in the other."""
    return searcher(request.param, WORLDS[request.param])
