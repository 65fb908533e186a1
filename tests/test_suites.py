"""The comparison suites are specs that can be played."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmerl import agents
from cmerl.experiments import run
from cmerl.experiments.spec import parse, read

SUITES = sorted((Path(__file__).parent.parent / "suites").glob("*.toml"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_a_suite_is_a_spec_that_plays(suite: Path, tmp_path: Path) -> None:
    spec = parse(read(suite))
    seeds = spec.seed_list
    assert len(seeds) >= 8
    results = run(str(suite), episodes=1, seeds=1, jobs=1, out=str(tmp_path / "run"))
    assert len(results.episodes) == len(spec.environments) * len(spec.agents)


def test_every_tabular_agent_and_control_is_in_a_suite() -> None:
    played = {agent.name for suite in SUITES for agent in parse(read(suite)).agents}
    assert {*agents.groups()["tabular"], *agents.groups()["controls"]} <= played
