"""The comparison suites are specs that can be played."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cmerl import agents
from cmerl.experiments import run
from cmerl.experiments.spec import parse, read

ROOT = Path(__file__).parent.parent
CONTROL = ROOT / "suites" / "control.toml"  # tasks with aims, for benchmarks/control.py
SUITES = sorted(set((ROOT / "suites").glob("*.toml")) - {CONTROL})


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


@pytest.fixture
def control(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("control_suite")


def test_every_control_task_can_be_played(control: ModuleType) -> None:
    """The real environments, simulators included."""
    tasks = control.tasks(CONTROL)
    assert {task.split for task in tasks} == {"choosing", "confirming"}
    for task in tasks:
        env = task.make()
        env.reset(seed=0)
        env.action_space.seed(0)
        observation, reward, *_ = env.step(env.action_space.sample())
        assert observation in env.observation_space, task.name
        assert np.isfinite(float(reward)), task.name
        agents.make(
            "cme-rl", env, horizon=task.environment.horizon, **(task.agent_options(env) | {"reward": "learned"})
        )


def test_a_collapse_is_a_bad_episode_after_three_good_ones(control: ModuleType) -> None:
    about = {"name": "a task", "split": "choosing", "environment": "CartPole-v1", "episodes": 8, "window": (6, 8)}
    task = control.Task(aim=-100.0, floor=-200.0, **about)
    run = {"returns": [-90, -180, -95, -99, -100, -149, -151, -90]}  # three in a row at the aim end with the fifth
    assert task.collapses(run) == (1, 3)
    assert task.collapses({"returns": [-90, -90, -120, -90, -90, -200, -90, -90]}) == (0, 0)
    assert task.value(run) == pytest.approx(-130)
    assert control.Task(score="best", aim=-100.0, floor=-200.0, **about).value(run) == -90
    assert not task.reached(-100.5)
    assert control.Task(**(about | {"score": "regret", "aim": 250})).reached(249)
    with pytest.raises(ValueError, match="window must lie within"):
        control.Task(**(about | {"window": (6, 9), "aim": 1}))
    with pytest.raises(ValueError, match="floor must lie below"):
        control.Task(**(about | {"aim": -1}))
