"""The progress of a run, and an estimate of its end."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cmerl.report.rundir import RunDirectory
from cmerl.report.style import duration

WINDOW = 120.0  # seconds over which the speed is measured: what a run did long ago says little


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes:
        state: one word or two.
        words: a sentence about it.
        share: share of finished episodes; None if the total is unknown.
    """

    state: str
    words: str
    share: float | None


class Pace:
    """Measures how fast episodes come in."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, now: float, episodes: int) -> None:
        """At time ``now`` so many episodes were finished."""
        if self._seen and episodes < self._seen[-1][1]:
            self._seen.clear()  # another run
        if not self._seen or episodes > self._seen[-1][1]:
            self._seen.append((now, episodes))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()

    def left(self, remaining: int) -> float | None:
        """Seconds until so many more are finished, or None where too little was seen."""
        if len(self._seen) < 2:
            return None
        (start, first), (end, last) = self._seen[0], self._seen[-1]
        return remaining * (end - start) / (last - first)


def progress(run: RunDirectory, pace: Pace) -> Progress:
    """The present progress of a run."""
    done = sum(runs.episodes for runs in run.runs)
    total = planned(run.manifest)
    counted = f"{done} of {total} episodes" if total else f"{done} episode{'s' * (done != 1)}"
    share = min(done / total, 1.0) if total else None
    if (isinstance(run.summary, dict) and run.summary.get("finished") is True) or (total and done >= total):
        return Progress("Finished:", f"{counted}.", share)
    if at_work(run.path):
        left = pace.left(total - done) if total else None
        return Progress("Running:", f"{counted}" + (f", about {duration(left)} left." if left else "."), share)
    return Progress("Stopped:", f"{counted}; cmerl resume {run.path} goes on.", share)


def planned(manifest: dict[str, Any]) -> int | None:
    """Episodes of all seeds, agents and environments together, as the manifest says."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return None
    seeds = manifest.get("seeds", spec.get("seeds"))
    parts = [spec.get("environments"), spec.get("agents"), [0] * seeds if type(seeds) is int else seeds]
    episodes = spec.get("episodes")
    if type(episodes) is not int or not all(isinstance(part, list) and part for part in parts):
        return None
    total = episodes
    for part in parts:
        total *= len(part or [])
    return total


def at_work(path: Path) -> bool:
    """Whether the process that last ran here is alive."""
    try:
        pid = int((path / ".lock").read_text())
        os.kill(pid, 0)
    except (OSError, ValueError, OverflowError) as error:
        return isinstance(error, PermissionError)  # somebody else's process is alive too
    return True
