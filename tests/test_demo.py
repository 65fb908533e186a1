from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cmerl import demo

COMMAND = [sys.executable, "-m", "cmerl.demo"]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [*COMMAND, *options], capture_output=True, encoding="utf-8", timeout=120, check=False, env=environment
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[subprocess.CompletedProcess[str], Path]:
    out = tmp_path_factory.mktemp("demo") / "deep" / "down"
    return run("--episodes", "2", "--seeds", "2", "--jobs", "2", "--out", str(out)), out


def test_demo_prints_a_table_and_writes_a_page(finished) -> None:
    process, out = finished
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""  # no warnings, and no progress bar without a terminal
    for words in ("RiverSwim-6", "GridWorld-5x5", "V* = 3.397", "V* = 10.86", "random play loses 3.353"):
        assert words in process.stdout
    for contender in demo.CONTENDERS:
        assert process.stdout.count(f"│ {contender.name} ") == 2
    assert "2 of 2" in process.stdout  # random play is always stuck
    assert process.stdout.rstrip().endswith(str(out / "index.html"))
    assert [path.name for path in out.iterdir()] == ["index.html"]


def test_page_of_the_demo_holds_the_same_numbers_as_the_table(finished) -> None:
    process, out = finished
    text = (out / "index.html").read_text(encoding="utf-8")
    rows = re.findall(r"│ (CME-RL \(\w+\)|greedy|random) +│ +([\d.]+) │ +([\d.]+ – [\d.]+) │", process.stdout)
    assert len(rows) == len(demo.WORLDS) * len(demo.CONTENDERS)
    for name, mean, interval in rows:
        assert name in text
        assert f">{mean}</td>" in text
        assert f">{interval}</td>" in text
    assert "python -m cmerl.demo --episodes 2 --seeds 2" in text


def test_numbers_do_not_depend_on_who_computes_them(finished) -> None:
    process, _ = finished
    totals = [
        demo.page.format_number(summary.mean)
        for world in demo.run_all(episodes=2, seeds=2, jobs=1)
        for summary in world.summaries
    ]
    assert re.findall(r"│ (?:CME-RL \(\w+\)|greedy|random) +│ +([\d.]+) │", process.stdout) == totals


def test_regrets_are_those_of_the_agents_themselves() -> None:
    ticks = []
    worlds = demo.run_all(episodes=2, seeds=1, jobs=1, tick=lambda: ticks.append(1))
    assert len(ticks) == demo.unit_count(seeds=1) == 8
    for world, results in zip(demo.WORLDS, worlds, strict=True):
        for contender, runs in zip(demo.CONTENDERS, results.agents, strict=True):
            history = contender.make(world, seed=0).learn(2).history
            assert runs.regrets.tolist() == [[record.regret for record in history]]
        # Random play is evaluated exactly, so its regret is what the headline says.
        np.testing.assert_allclose(results.agents[-1].regrets, results.random_loss, rtol=1e-12)


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
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_it_cleanly(jobs: int, tmp_path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "--episodes", "100000", "--jobs", str(jobs), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    while not out.exists():  # the folder is made last before the runs begin
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == ""
    assert stderr == "Interrupted: no page was written.\n"
    assert list(out.iterdir()) == []
