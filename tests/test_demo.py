from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cmerl import demo

COMMAND = [sys.executable, "-m", "cmerl.demo"]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [*COMMAND, *options], capture_output=True, encoding="utf-8", timeout=600, check=False, env=environment
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[subprocess.CompletedProcess[str], Path]:
    out = tmp_path_factory.mktemp("demo") / "deep" / "down"
    return run("--episodes", "2", "--seeds", "2", "--jobs", "2", "--out", str(out)), out


def test_demo_prints_a_table_and_writes_a_page_and_its_run(finished) -> None:
    process, out = finished
    assert process.returncode == 0, process.stderr
    for world in ("RiverSwim", "GridWorld", "PBall2D"):
        for agent in ("CME-RL", "greedy", "random"):
            assert any(line.split()[:2] == [world, agent] for line in process.stdout.splitlines())
    assert process.stdout.rstrip().endswith(str(out / "index.html"))
    (directory,) = out.glob("run-*")
    assert json.loads((directory / "summary.json").read_text())["finished"]


def test_page_of_the_demo_shows_every_world_and_agent_and_how_to_repeat_it(finished) -> None:
    _, out = finished
    text = (out / "index.html").read_text(encoding="utf-8")
    for world in ("RiverSwim", "GridWorld", "PBall2D"):
        assert f"<h2>{world}</h2>" in text
    for agent in ("CME-RL", "greedy", "random"):
        assert f"<span>{agent}</span>" in text
    assert "python -m cmerl.demo --episodes 2 --seeds 2" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--episodes", "0"], "argument --episodes: expects a whole number of at least 1, not '0'"),
        (["--seeds", "many"], "argument --seeds: expects a whole number of at least 1, not 'many'"),
        (["--jobs", "-1"], "argument --jobs: expects a whole number of at least 1, not '-1'"),
        (["--speed"], "unrecognized arguments: --speed"),
    ],
)
def test_wrong_arguments_get_one_sentence(options: list[str], message: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        demo.main(options)
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_an_error_before_the_runs(capsys, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--out", str(tmp_path / "file")])
    assert stopped.value.code == 2
    assert "cannot write to the folder" in capsys.readouterr().err


def test_sizes_by_default_quick_and_given(tmp_path) -> None:
    def sizes(*options: str) -> tuple[int, int]:
        parsed = demo.parse([*options, "--out", str(tmp_path)])
        return parsed.episodes, parsed.seeds

    assert sizes() == (demo.EPISODES, demo.SEEDS)
    assert sizes("--quick") == (demo.QUICK_EPISODES, demo.QUICK_SEEDS)
    assert sizes("--quick", "--seeds", "7") == (demo.QUICK_EPISODES, 7)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")
def test_an_interrupt_ends_it_cleanly_and_says_how_to_go_on(tmp_path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "--episodes", "100000", "--jobs", "2", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )
    try:
        while not list(out.glob("run-*/episodes.jsonl")):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
        stdout, stderr = process.communicate(timeout=600)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode in (130, -signal.SIGINT)  # a shell reports both as 130
    assert stdout == ""
    assert stderr.endswith(f"go on with: cmerl resume {next(out.glob('run-*'))}\n")
    assert not (out / "index.html").exists()
