"""Files of the present format load and go on; agents of an earlier one are refused with who reads them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from cmerl import agents, experiments
from cmerl.agents.saving import container
from cmerl.errors import InputError
from cmerl.experiments import manifest, units

FIXTURES = Path(__file__).parent / "fixtures"
sys.path.insert(0, str(FIXTURES))

from make_fixtures import AGENTS  # noqa: E402

PRESENT = FIXTURES / f"format-{container.FORMAT}"
EARLIER = sorted(path for path in FIXTURES.glob("format-*/*.cmerl") if path.parent != PRESENT)
RUNS = sorted(path.parent.name for path in FIXTURES.glob("format-*/run"))


def test_the_present_format_has_fixtures() -> None:
    assert (container.FORMAT, manifest.FORMAT, units.FORMAT) == (2, 1, 1)
    assert PRESENT.is_dir()
    assert EARLIER


@pytest.mark.parametrize("name", AGENTS)
def test_agents_of_the_present_format_load_and_go_on(name: str) -> None:
    env, agent, _, episodes = AGENTS[name]
    cls = type(agents.make(agent, gymnasium.make(env), horizon=5))
    loaded = cls.load(PRESENT / f"{name}.cmerl", env=gymnasium.make(env))
    wanted = json.loads((PRESENT / "returns.json").read_text())[name]
    assert [record.ret for record in loaded.history] == wanted
    loaded.learn(1)
    assert len(loaded.history) == episodes + 1
    assert np.isfinite(loaded.history[-1].ret)


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
def test_agents_of_an_earlier_format_are_refused_with_what_reads_them(path: Path) -> None:
    env, agent, *_ = AGENTS[path.stem]
    cls = type(agents.make(agent, gymnasium.make(env), horizon=5))
    with pytest.raises(InputError, match=r"has format 1, which cmerl 0\.1 reads: this version .* format 2"):
        cls.load(path, env=gymnasium.make(env))


@pytest.mark.parametrize("version", RUNS)
def test_runs_of_every_version_are_read_and_resumed(version: str, tmp_path: Path) -> None:
    run = Path(shutil.copytree(FIXTURES / version / "run", tmp_path / "run"))
    results = experiments.load(run)
    assert results.finished
    assert len(results.episodes) == 6
    unit = results.units[0]
    assert len(results.agent(*unit.key).history) == 3
    assert experiments.resume(run).finished
