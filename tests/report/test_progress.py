from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import rundirs

from cmerl.report import rundir
from cmerl.report.progress import Pace, at_work, planned, progress


def test_time_left_follows_the_latest_speed() -> None:
    pace = Pace()
    assert pace.left(100) is None
    for second in range(300):
        pace.note(float(second), second)  # one a second
    for second in range(300, 600):
        pace.note(float(second), 300 + 10 * (second - 300))  # ten
    assert pace.left(100) == pytest.approx(10.0)
    pace.note(601.0, 5)  # another run began
    assert pace.left(100) is None


@pytest.mark.parametrize(
    ("manifest", "total"),
    [
        ({"spec": {"environments": [1, 2], "agents": [1], "episodes": 10, "seeds": 3}}, 60),
        ({"spec": {"environments": [1], "agents": [1, 2], "episodes": 10, "seeds": [4, 7]}, "seeds": [4, 7]}, 40),
        ({}, None),
        ({"spec": []}, None),
        ({"spec": {"environments": [1], "agents": [1], "episodes": "ten", "seeds": 3}}, None),
        ({"spec": {"environments": {}, "agents": [1], "episodes": 10, "seeds": None}}, None),
    ],
)
def test_the_manifest_says_how_many_episodes_there_will_be(manifest, total) -> None:
    assert planned(manifest) == total


def state(path: Path) -> tuple[str, str]:
    found = progress(rundir.read(path), Pace())
    return found.state, found.words


def test_a_run_is_finished_running_or_stopped(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("E",), agents=("a",), seeds=2, episodes=3)
    spec = {"environments": ["E"], "agents": ["a"], "episodes": 5, "seeds": 2}
    (tmp_path / "manifest.json").write_text(json.dumps({"spec": spec}))
    assert state(tmp_path) == ("Stopped:", f"6 of 10 episodes; cmerl resume {tmp_path} goes on.")
    (tmp_path / ".lock").write_text(f"{os.getpid()}\n")
    assert state(tmp_path) == ("Running:", "6 of 10 episodes.")
    (tmp_path / "summary.json").write_text('{"finished": true}')
    assert state(tmp_path)[0] == "Finished:"


@pytest.mark.parametrize("content", ["", "nobody", "99999999999999999999", str(2**22 + 1)])
def test_nobody_is_at_work_where_the_lock_names_no_process(tmp_path, content: str) -> None:
    assert not at_work(tmp_path)
    (tmp_path / ".lock").write_text(content)
    assert not at_work(tmp_path)
