"""Whole runs with real workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
from small_runs import RUN, timeless

import cmerl
from cmerl import experiments
from cmerl.experiments.engines import EpisodeFinished, UnitFinished


def test_one_job_and_two_jobs_give_the_same_bytes(one_job: experiments.Results, tmp_path: Path) -> None:
    events: list[Any] = []
    two = experiments.run(RUN, jobs=2, out=tmp_path / "two", callbacks=[lambda event, ledger: events.append(event)])
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


def test_resuming_a_finished_run_changes_nothing(one_job: experiments.Results) -> None:
    files = [path for path in sorted(one_job.directory.rglob("*")) if path.is_file() and path.name != ".lock"]
    before = [path.read_bytes() for path in files]
    experiments.resume(one_job.directory)
    assert [path.read_bytes() for path in files] == before


def test_a_unit_that_fails_says_why_and_the_others_go_on(tmp_path: Path) -> None:
    agents = [{"name": "cme-rl", "label": "narrow", "options": {"reward_range": [0, 0.5]}}, "random"]
    results = experiments.run("cmerl/Chain-v0", agents=agents, episodes=5, seeds=1, out=tmp_path / "run", jobs=1)
    (failure,) = results.failures
    assert failure["agent"] == "narrow"
    assert "outside the declared reward_range (0, 0.5)" in failure["message"]
    assert "\n" not in failure["message"]
    assert not results.finished
    assert sum(line["agent"] == "random" for line in results.episodes) == 5
