"""The comparison suites are specs that can be played."""

from __future__ import annotations

import importlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import processes
import pytest

from cmerl import agents
from cmerl.experiments import run
from cmerl.experiments.runner import check
from cmerl.experiments.spec import parse, read

ROOT = Path(__file__).parent.parent
CONTROL = ROOT / "suites" / "control.toml"  # tasks with aims, for benchmarks/control.py
COST = sorted((ROOT / "suites").glob("cost*.toml"))  # one seed: seconds, not regret
SUITES = sorted(set((ROOT / "suites").glob("*.toml")) - {CONTROL, *COST})

KEPT = ROOT / "benchmarks" / "results"
TABLES = {  # the suites that a file of kept regrets comes from
    "comparison": ["comparison", "cliffwalking"],
    "structured": ["structured"],
    "linear-quadratic": ["linear-quadratic"],
    "one-step": ["one-step"],
    "continuous": ["continuous"],
    "random": ["random"],
    "deepsea": ["deepsea"],
    "tabular": ["tabular"],
    "theory": ["theory"],
}
SHOWN = {  # the page that has the table of a file, and the agent that others are compared with there
    **dict.fromkeys(TABLES, ("comparison", "cme-rl")),
    "tabular": ("baselines", "cme-rl"),
    "theory": ("baselines", None),
    "deepsea": ("finite", None),
}

OWN_AGENTS = set(agents.names())  # before other tests register theirs


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_a_suite_is_a_spec_that_plays(suite: Path, tmp_path: Path) -> None:
    spec = parse(read(suite))
    beside = any(agent.name == "cme-rl" for agent in spec.agents)
    assert len(spec.seed_list) >= (10 if beside else 8)
    check(spec)  # every agent can be made in every world
    first = spec.model_copy(update={"environments": spec.environments[:1]})
    assert len(run(first, episodes=1, seeds=1, jobs=1, out=tmp_path / "run").episodes) == len(spec.agents)


def test_every_agent_is_in_a_suite_beside_cme_rl() -> None:
    beside = set()
    for suite in SUITES:
        names = {agent.name for agent in parse(read(suite)).agents}
        beside |= names if "cme-rl" in names else set()
    assert beside >= OWN_AGENTS


def test_what_an_episode_costs_is_asked_of_every_agent() -> None:
    specs = [parse(read(suite)) for suite in (*COST, ROOT / "suites" / "linear-quadratic.toml")]
    for spec in specs:
        check(spec)
    assert {agent.name for spec in specs for agent in spec.agents} >= OWN_AGENTS


@pytest.fixture
def suite_table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("suite_table")


def test_the_cost_of_a_suite_and_of_its_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    agents_cost = importlib.import_module("agents_cost")
    suite = tmp_path / "suite.toml"
    suite.write_text('environment = "cmerl/RiverSwim-v0"\nagents = ["ucbvi", "random"]\nepisodes = 30\nseeds = 2\n')
    run(suite, jobs=1, out=tmp_path / "run")
    kinds = agents_cost.played(suite), agents_cost.recorded(tmp_path / "run")
    assert list(kinds[0]) == ["ucbvi", "random", "random, certificate"]
    assert list(kinds[1]) == ["ucbvi", "random"]
    for found in kinds:
        spent = [row["cmerl/RiverSwim-v0"] for row in found.values()]
        assert {len(seconds) for seconds in spent} == {30}
        assert min(map(min, spent)) > 0
    monkeypatch.setattr("sys.argv", ["agents_cost.py", str(tmp_path / "run")])
    agents_cost.main()
    assert capsys.readouterr().out == agents_cost.table(kinds[1]) + "\n"
    assert agents_cost.cell([9.0, *[0.002] * 10, *[0.5] * 80, *[0.004] * 9]) == "2.0, 4.0 | 2.0"


def test_a_table_says_what_the_summary_of_a_run_says(suite_table: ModuleType, tmp_path: Path) -> None:
    results = run(
        "cmerl/RiverSwim-v0", agents=["ucbvi", "random"], episodes=20, seeds=6, jobs=1, out=tmp_path / "run"
    )
    found = suite_table.gathered([tmp_path / "run"])
    suite_table.keep(found, tmp_path / "kept.json")
    assert suite_table.gathered([tmp_path / "kept.json"]) == found
    header, _, *rows = suite_table.table(found, beside="ucbvi").splitlines()
    assert header == "| agent | cmerl/RiverSwim-v0 |"
    for row, line, sign in zip(rows, results.summary()["results"], ("", " +"), strict=True):
        lost = line["cumulative_regret"]
        digits = 0 if lost["mean"] >= 10 else 1
        mean, low, high = (f"{lost[key]:.{digits}f}" for key in ("mean", "low", "high"))
        assert row == f"| `{line['agent']}` | {mean} [{low}, {high}]{sign} |"


def test_a_seed_that_has_not_finished_does_not_count(suite_table: ModuleType, tmp_path: Path) -> None:
    run("cmerl/RiverSwim-v0", agents=["random"], episodes=3, seeds=2, jobs=1, out=tmp_path / "run")
    lines = (tmp_path / "run" / "episodes.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "run" / "episodes.jsonl").write_text("".join(lines[:-1]))
    assert len(suite_table.regrets(tmp_path / "run")["random"]["cmerl/RiverSwim-v0"]) == 1


@pytest.mark.parametrize("name", TABLES)
def test_kept_regrets_are_of_the_agents_worlds_and_seeds_of_their_suites(name: str) -> None:
    kept = json.loads((KEPT / f"{name}.json").read_text())
    wanted: dict[str, dict[str, int]] = {}
    for suite in TABLES[name]:
        spec = parse(read(ROOT / "suites" / f"{suite}.toml"))
        for agent in spec.agents:
            wanted.setdefault(agent.label, {}).update({env.label: len(spec.seed_list) for env in spec.environments})
    assert {agent: {world: len(lost) for world, lost in row.items()} for agent, row in kept.items()} == wanted


@pytest.mark.parametrize("name", TABLES)
def test_a_page_shows_what_the_command_prints(name: str, suite_table: ModuleType) -> None:
    page, beside = SHOWN[name]
    text = (ROOT / "docs" / "evidence" / f"{page}.md").read_text(encoding="utf-8")
    found = suite_table.gathered([KEPT / f"{name}.json"])
    assert suite_table.table(found, beside) in text
    for suite in TABLES[name]:
        assert f"cmerl run suites/{suite}.toml" in text


def test_a_kept_regret_is_that_of_a_run(suite_table: ModuleType, tmp_path: Path) -> None:
    spec = parse(read(ROOT / "suites" / "comparison.toml"))
    worlds = tuple(env for env in spec.environments if env.label == "DeepSea-6")
    players = tuple(agent for agent in spec.agents if agent.name in ("ucbvi", "lsvi-ucb"))
    run(spec.model_copy(update={"environments": worlds, "agents": players}), seeds=1, out=tmp_path / "run")
    kept = json.loads((KEPT / "comparison.json").read_text())
    for agent, row in suite_table.regrets(tmp_path / "run").items():
        assert row["DeepSea-6"] == pytest.approx(kept[agent]["DeepSea-6"][:1])


@pytest.fixture
def control(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("control_suite")


def test_every_control_task_can_be_played(control: ModuleType) -> None:
    """The real environments, simulators included."""
    tasks = control.tasks(CONTROL)
    assert {task.split for task in tasks} == {"choosing", "confirming"}
    there = sys.version_info < (3, 13)  # dm_control cannot be installed from then on
    for task in tasks if there else [task for task in tasks if not task.environment.id.startswith("cmerl/dmc-")]:
        env = task.make()
        env.reset(seed=0)
        env.action_space.seed(0)
        observation, reward, *_ = env.step(env.action_space.sample())
        assert observation in env.observation_space, task.name
        assert np.isfinite(float(reward)), task.name
        agents.make(
            "cme-rl", env, horizon=task.environment.horizon, **(task.agent_options(env) | {"reward": "learned"})
        )


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_runs_of_control_tasks_end_with_the_command(kind: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "benchmarks" / "control.py", "--task", "TwoRooms", "--jobs", "2"]
    driver = subprocess.Popen([*command, "--results", tmp_path / "runs.json"])
    workers: list[int] = []
    try:
        processes.wait_until(lambda: len(processes.children(driver.pid, b"spawn_main")) == 2)
        workers = processes.children(driver.pid, b"spawn_main")
        driver.send_signal(kind)
        assert driver.wait() == -kind
        processes.wait_until(lambda: not any(map(processes.alive, workers)))
    finally:
        driver.kill()
        processes.kill(workers)


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
