"""Whole runs with real workers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import cmerl
from cmerl import experiments
from cmerl.errors import InputError
from cmerl.experiments.engines import EpisodeFinished, UnitFinished

SPEC: dict[str, Any] = {
    "environments": ["cmerl/RiverSwim-v0", {"id": "cmerl/Chain-v0", "label": "chain", "options": {"states": 4}}],
    "agents": ["random", {"name": "cme-rl", "label": "split", "options": {"bonus": "split"}}],
    "episodes": 6,
    "seeds": [0, 5],
}


def timeless(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


@pytest.fixture(scope="module")
def one_job(tmp_path_factory: pytest.TempPathFactory) -> experiments.Results:
    return experiments.run(SPEC, jobs=1, out=tmp_path_factory.mktemp("run") / "one")


def test_one_job_and_two_jobs_give_the_same_bytes(one_job: experiments.Results, tmp_path: Path) -> None:
    events: list[Any] = []
    two = experiments.run(SPEC, jobs=2, out=tmp_path / "two", callbacks=[lambda event, ledger: events.append(event)])
    assert timeless(two.directory / "episodes.jsonl") == timeless(one_job.directory / "episodes.jsonl")

    finished = [(*event.unit.key, event.line["episode"]) for event in events if isinstance(event, EpisodeFinished)]
    assert len(finished) == len(set(finished)) == 2 * 2 * 2 * 6
    assert sum(isinstance(event, UnitFinished) for event in events) == 8


def test_a_unit_is_what_its_agent_does_alone(one_job: experiments.Results) -> None:
    env = gymnasium.make("cmerl/Chain-v0", states=4)
    alone = cmerl.agents.make("cme-rl", env, seed=5, bonus="split").learn(6).history
    lines = [line for line in one_job.episodes if (line["env"], line["agent"], line["seed"]) == ("chain", "split", 5)]
    assert [(line["return"], line["regret"]) for line in lines] == [(r.ret, r.regret) for r in alone]
    assert list(lines[0]) == [
        *("env", "agent", "seed", "episode", "return", "length", "regret", "regret_kind", "seconds", "metrics")
    ]


def test_the_summary_is_the_mean_over_seeds(one_job: experiments.Results) -> None:
    summary = one_job.summary()
    assert summary["finished"]
    assert one_job.finished
    assert len(summary["results"]) == 4
    for row in summary["results"]:
        lines = [line for line in one_job.episodes if (line["env"], line["agent"]) == (row["env"], row["agent"])]
        assert row["episodes"] == 6
        assert row["episodes_total"] == len(lines) == 12
        assert row["return"]["mean"] == pytest.approx(sum(line["return"] for line in lines) / 12)
        assert row["cumulative_regret"]["mean"] == pytest.approx(sum(line["regret"] for line in lines) / 2)
        assert row["return"]["low"] <= row["return"]["mean"] <= row["return"]["high"]
        assert row["seconds_per_episode"] == pytest.approx(sum(line["seconds"] for line in lines) / 12)


def test_the_manifest_can_repeat_the_run(one_job: experiments.Results, tmp_path: Path) -> None:
    manifest = one_job.manifest
    assert manifest["seeds"] == [0, 5]
    assert manifest["threads"] == 1
    assert manifest["jitter"] == 0.0
    assert manifest["versions"]["cmerl"] == cmerl.__version__
    assert manifest["blas"]
    again = experiments.run(one_job.directory / "manifest.json", out=tmp_path / "again")
    assert timeless(again.directory / "episodes.jsonl") == timeless(one_job.directory / "episodes.jsonl")


def test_a_frame_has_a_row_for_each_episode_and_metrics_as_columns(one_job: experiments.Results) -> None:
    frame = one_job.frame()
    assert len(frame) == 48
    assert {"env", "agent", "seed", "episode", "return", "regret", "optimum", "information_gain"} <= set(
        frame.columns
    )
    assert frame[frame.agent == "split"]["information_gain"].notna().all()


def test_an_agent_comes_back_from_its_journal_at_any_episode(one_job: experiments.Results) -> None:
    env = gymnasium.make("cmerl/Chain-v0", states=4)
    alone = cmerl.agents.make("cme-rl", env, seed=5, bonus="split").learn(4)
    found = one_job.agent("chain", "split", 5, episodes=4)
    assert len(found.history) == 4
    assert isinstance(found, cmerl.CMERL)
    assert isinstance(alone, cmerl.CMERL)
    assert found.q_values(2, 1).tolist() == alone.q_values(2, 1).tolist()
    with pytest.raises(InputError, match="no unit of 'chain', 'split' and seed 4"):
        one_job.agent("chain", "split", 4)


def test_resuming_a_finished_run_changes_nothing(one_job: experiments.Results) -> None:
    files = [path for path in sorted(one_job.directory.rglob("*")) if path.is_file() and path.name != ".lock"]
    before = [path.read_bytes() for path in files]
    experiments.resume(one_job.directory)
    assert [path.read_bytes() for path in files] == before


def test_a_directory_with_a_run_is_not_written_over(one_job: experiments.Results) -> None:
    with pytest.raises(InputError, match="holds a run already: continue it with cmerl resume"):
        experiments.run(SPEC, out=one_job.directory)


def test_a_unit_that_fails_says_why_and_the_others_go_on(tmp_path: Path) -> None:
    agents = [{"name": "cme-rl", "label": "narrow", "options": {"reward_range": [0, 0.5]}}, "random"]
    results = experiments.run("cmerl/Chain-v0", agents=agents, episodes=5, seeds=1, out=tmp_path / "run", jobs=1)
    (failure,) = results.failures
    assert failure["agent"] == "narrow"
    assert "outside the declared reward_range (0, 0.5)" in failure["message"]
    assert "\n" not in failure["message"]
    assert not results.finished
    assert sum(line["agent"] == "random" for line in results.episodes) == 5


def test_what_killed_writers_left_behind_goes_when_a_run_is_resumed(
    one_job: experiments.Results, tmp_path: Path
) -> None:
    """A kill −9 between the first byte of a file and its renaming leaves the file that is not whole."""
    directory, victim = tmp_path / "run", tmp_path / "victim"
    shutil.copytree(one_job.directory, directory)
    before = sorted(path.name for path in directory.rglob("*"))
    victim.write_text("precious")
    (directory / ".summary.json.a1b2.partial").write_text('{"half')
    (directory / ".manifest.json.c3.partial").symlink_to(victim)
    (directory / ".mine.partial").write_text("not of this run")
    experiments.resume(directory)
    assert sorted(path.name for path in directory.rglob("*")) == sorted([*before, ".mine.partial"])
    assert victim.read_text() == "precious"
