"""Files of every released format load, and go on."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl import agents, experiments
from cmerl.agents import storage
from cmerl.errors import InputError
from cmerl.experiments import manifest, units

FIXTURES = Path(__file__).parent / "fixtures"
sys.path.insert(0, str(FIXTURES))

from make_fixtures import AGENTS

FORMATS = sorted(path.name for path in FIXTURES.glob("format-*"))


def test_the_present_format_has_fixtures() -> None:
    assert {storage.FORMAT, manifest.FORMAT, units.FORMAT} == {1}
    assert f"format-{storage.FORMAT}" in FORMATS


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("version", FORMATS)
def test_agents_of_every_version_load_and_go_on(version: str, name: str) -> None:
    env, agent, _, episodes, _ = AGENTS[name]
    cls = type(agents.make(agent, gymnasium.make(env), horizon=5))
    loaded = cls.load(FIXTURES / version / f"{name}.cmerl", env=gymnasium.make(env))
    wanted = json.loads((FIXTURES / version / "returns.json").read_text())[name]
    assert [record.ret for record in loaded.history] == wanted
    loaded.learn(1)
    assert len(loaded.history) == episodes + 1
    assert np.isfinite(loaded.history[-1].ret)


@pytest.mark.parametrize("version", FORMATS)
def test_runs_of_every_version_are_read_and_resumed(version: str, tmp_path: Path) -> None:
    run = Path(shutil.copytree(FIXTURES / version / "run", tmp_path / "run"))
    results = experiments.load(run)
    assert results.finished
    assert len(results.episodes) == 6
    unit = results.units[0]
    assert len(results.agent(*unit.key).history) == 3
    assert experiments.resume(run).finished


def test_a_later_format_is_refused_in_a_sentence(tmp_path: Path) -> None:
    agent = agents.make("random", gymnasium.make("cmerl/RiverSwim-v0"))
    tensors, meta = agent._everything()
    (tmp_path / "later").write_bytes(storage.to_bytes(tensors, {**meta, "format": 2}))
    with pytest.raises(InputError, match="has format 2, this cmerl reads 1"):
        type(agent).load(tmp_path / "later")
    assert cmerl.__version__
