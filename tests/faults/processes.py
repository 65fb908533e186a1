"""Real processes to be hurt: start the command line, find its workers, kill, and compare what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cmerl.experiments.journal import split
from cmerl.experiments.packing import unpack

PATIENCE = 600.0  # seconds, on a machine with much else to do: only what hangs takes longer
TIMELESS = ("seconds", "seconds_per_episode", "created", "command", "jobs")


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """``cmerl …`` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "cmerl", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = PATIENCE) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def run(*arguments: str | Path) -> tuple[int, str, str]:
    return finish(start(*arguments))


def children(pid: int, kind: bytes = b"popen_loky") -> list[int]:
    """Worker processes of a driver, by a word of their command line."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [child for child in found if kind in command_line(child)]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition: Any) -> None:
    """Wait for what must happen."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def kill(pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def journalled(directory: Path) -> list[str]:
    """Every finished episode, with the time it took: what no accident may lose or change."""
    lines = []
    for path in sorted(directory.glob("journals/*")):
        records = [unpack(record) for record in split(path.read_bytes())]
        lines += [json.dumps(record["line"], sort_keys=True) for record in records if "line" in record]
    return lines


def timeless(value: Any) -> Any:
    """A JSON value without what the clock and the caller put there."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in TIMELESS}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def files(directory: Path) -> dict[str, Any]:
    """What a finished run left, timings aside; every file must be whole."""
    lines = (directory / "episodes.jsonl").read_text().splitlines()
    return {
        "names": sorted(path.name for path in directory.rglob("*") if path.name != "run.log"),
        "episodes": [timeless(json.loads(line)) for line in lines],
        "manifest": timeless(json.loads((directory / "manifest.json").read_text())),
        "summary": timeless(json.loads((directory / "summary.json").read_text())),
        "journals": [timeless(json.loads(line)) for line in journalled(directory)],
    }
