"""Kill a run at random moments until it is done all the same.

    python tests/faults/kills.py 100

prints what happened; ``test_kills.py`` does it with fewer.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import processes

ARGUMENTS = ("--agent", "cme-rl", "--agent", "random", "--seeds", "2", "--jobs", "2")


@dataclass
class Toll:
    """What was done to runs, and how far they were (finished episodes) whenever they had to be resumed."""

    driver: int = 0
    worker: int = 0
    everything: int = 0
    runs: int = 0
    episodes: list[int] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return self.driver + self.worker + self.everything


def torment(directory: Path, kills: int, episodes: int, rng: random.Random, toll: Toll, lossy: bool = False) -> None:
    """Run with random kills −9 of the driver, of a worker or of both, and resume until the run is done."""
    arguments = ("run", "cmerl/RiverSwim-v0", *ARGUMENTS, "--episodes", str(episodes), "--out", directory)
    process = processes.start(*arguments)
    finished: list[str] = []
    while True:
        if toll.kills < kills:
            _wait_for_a_moment(process, directory, rng)
        if toll.kills >= kills or process.poll() is not None:
            code, _, err = processes.finish(process)
            if code == 1 and "its worker was killed 3 times in one episode" in err:  # enough is enough, until resumed
                process = processes.start("resume", directory)
                continue
            assert code == 0, f"exit code {code}: {err[-80:]}"
            return
        workers = processes.children(process.pid)
        victim = rng.choice(["driver", "everything", *["worker"] * len(workers)])
        setattr(toll, victim, getattr(toll, victim) + 1)
        print(f"kill {toll.kills} of run {toll.runs}: {victim}, with {_size(directory)} bytes written", flush=True)
        if victim == "worker":
            processes.kill([rng.choice(workers)])
            continue
        processes.kill([process.pid] if victim == "driver" else [process.pid, *workers])
        process.communicate()
        processes.wait_until(lambda workers=workers: not any(map(processes.alive, workers)))
        now = processes.journalled(directory)
        now = now[1:] if lossy and finished else now
        assert set(finished) <= set(now), "a finished episode was lost or played again"
        finished = now
        toll.episodes.append(len(now))
        again = ("resume", directory) if (directory / "manifest.json").exists() else arguments
        process = processes.start(*again)


def _wait_for_a_moment(process: Popen[str], directory: Path, rng: random.Random) -> None:
    """Until some bytes more are in the journals, or sometimes for a while that ends while things are set up."""
    if rng.random() < 0.15:
        time.sleep(rng.uniform(0, 3))
        return
    wanted = _size(directory) + rng.randint(1, 15_000)
    while process.poll() is None and _size(directory) < wanted:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 0.02))


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.glob("journals/*"))


def survive(kills: int, episodes: int, seed: int, where: Path, *, lossy: bool = False) -> Toll:
    """Torment runs until so many kills are spent; each must end as if nothing had happened.

    ``lossy`` tears an episode out of a journal after every kill, as a broken journal would.
    """
    rng, toll = random.Random(seed), Toll()
    undisturbed = where / "undisturbed"
    arguments = ("run", "cmerl/RiverSwim-v0", *ARGUMENTS, "--episodes", str(episodes), "--out", undisturbed)
    code, _, err = processes.run(*arguments)
    assert code == 0, err
    wanted: dict[str, Any] = processes.files(undisturbed)
    while toll.kills < kills:
        toll.runs += 1
        directory = where / f"run-{toll.runs}"
        torment(directory, kills, episodes, rng, toll, lossy)
        found = processes.files(directory)
        other = [name for name in wanted if found[name] != wanted[name]]
        names = sorted(set(found["names"]) ^ set(wanted["names"]))
        assert not other, f"other {', '.join(other)} than in quiet {names}"
    return toll


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        print(survive(int(sys.argv[1]), episodes=400, seed=int(time.time()), where=Path(where)))
