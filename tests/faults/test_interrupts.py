"""Ctrl-C, kill, a second process, and workers that die: with real processes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import processes

LONG = ("run", "cmerl/RiverSwim-v0", "--seeds", "2", "--jobs", "2", "--episodes", "100000", "--out")


@pytest.fixture(scope="module")
def going(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Popen[str], list[int], Path]]:
    directory = tmp_path_factory.mktemp("going") / "run"
    with under_way(directory) as (process, workers):
        yield process, workers, directory


@contextmanager
def under_way(directory: Path) -> Iterator[tuple[Popen[str], list[int]]]:
    """A run that would take an hour, once both of its workers have finished an episode."""
    process = processes.start(*LONG, directory)
    try:
        processes.wait_until(lambda: _begun(directory) == 2)
        yield process, processes.children(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.communicate()


def _begun(directory: Path) -> int:
    return len({line.partition('"seed"')[2][:5] for line in processes.journalled(directory)})


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_stops_says_how_to_go_on_and_leaves_no_worker(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with under_way(tmp_path / "run") as (process, workers):
        assert len(workers) == 2
        # Ctrl-C reaches the whole group, as at a terminal; a kill reaches the driver.
        os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
        found, _, err = processes.finish(process)
        assert not any(map(processes.alive, workers))
    assert found == code
    assert err.splitlines()[-1] == f"stopped; go on with: cmerl resume {tmp_path / 'run'}"
    assert "Traceback" not in err
    lines = (tmp_path / "run" / "episodes.jsonl").read_text().splitlines()
    assert len(lines) <= len(processes.journalled(tmp_path / "run"))


def test_a_second_process_is_refused_while_the_first_goes_on(going: tuple[Popen[str], list[int], Path]) -> None:
    process, _, directory = going
    code, out, err = processes.run("resume", directory)
    assert code == 2
    assert out == ""
    assert err == f"cmerl: {str(directory)!r} is being run by process {process.pid}: wait for it, or stop it first\n"
    assert process.poll() is None


def test_only_the_killed_workers_unit_is_tried_again(going: tuple[Popen[str], list[int], Path]) -> None:
    process, workers, directory = going
    processes.kill(workers[:1])
    processes.wait_until(lambda: len(set(processes.children(process.pid)) - set(workers)) == 1)
    assert processes.alive(workers[1])
    before = _episodes_by_seed(directory)
    processes.wait_until(lambda: all(_episodes_by_seed(directory)[seed] > before[seed] for seed in before))


def _episodes_by_seed(directory: Path) -> dict[str, int]:
    lines = processes.journalled(directory)
    return {seed: sum(f'"seed": {seed}' in line for line in lines) for seed in "01"}
