"""Time and size of a report on 100 seeds × 10 000 episodes × 3 agents, and what reading has to do with it.

python benchmarks/bench_report.py
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cmerl.experiments import columns
from cmerl.report import html, rundir

AGENTS = ("cme-rl", "greedy", "random")
MOST_SECONDS, MOST_BYTES = 5.0, 5e6


def make_run(path: Path, seeds: int, episodes: int) -> None:
    """Lines as the runner writes them."""
    rng = np.random.default_rng(0)
    with open(path / "episodes.jsonl", "w", encoding="utf-8") as file:
        for agent in AGENTS:
            for seed in range(seeds):
                noise = rng.random(episodes)
                for e, u in enumerate(noise.tolist()):
                    line = {
                        "env": "cmerl/RiverSwim-v0",
                        "agent": agent,
                        "seed": seed,
                        "episode": e,
                        "return": 3.0 * u,
                        "length": 20,
                        "regret": u / (e + 1) ** 0.5,
                        "regret_kind": "policy",
                        "seconds": u / 100,
                        "metrics": {"value": 3 + u, "information_gain": 0.1 * e, "dictionary": 12, "optimum": 3.397},
                    }
                    file.write(json.dumps(line) + "\n")
    (path / "manifest.json").write_text(json.dumps({"command": "benchmarks/bench_report.py"}))


class Clock(NamedTuple):
    """Seconds by the clock on the wall, and of the processor, which other programs do not lengthen as much."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:6.1f} s ({self.processor:.1f} s of the processor)"

    def times(self, factor: float) -> Clock:
        """Counted up."""
        return Clock(self.wall * factor, self.processor * factor)


def timed(work: Callable[[], Any]) -> tuple[Clock, Any]:
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    return Clock(time.perf_counter() - wall, time.process_time() - processor), found


def naive(path: Path, lines: int) -> int:
    """What anyone would write first; only so many lines, and counted up."""
    count = 0
    with open(path / "episodes.jsonl", encoding="utf-8") as file:
        for line in file:
            json.loads(line)
            count += 1
            if count == lines:
                break
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--episodes", type=int, default=10_000)
    options = parser.parse_args()
    total = options.seeds * options.episodes * len(AGENTS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        make_run(path, options.seeds, options.episodes)
        print(f"{total} lines, {(path / 'episodes.jsonl').stat().st_size / 1e6:.0f} MB of episodes.jsonl")
        sample = min(total, 200_000)
        loop, _ = timed(lambda: naive(path, sample))
        loop = loop.times(total / sample)
        print(f"json.loads line by line    {loop}, from {sample} lines, keeping nothing")
        first, _ = timed(lambda: columns.read(path))
        print(f"first reading, with cache  {first}, {loop.processor / first.processor:.1f} times as fast")
        reading, run = timed(lambda: rundir.read(path))
        print(f"reading again, from cache  {reading}, {loop.processor / reading.processor:.0f} times as fast")
        rendering, text = timed(lambda: html.render(run))
        print(f"making the page            {rendering}")
        report = Clock(*map(sum, zip(reading, rendering, strict=True)))
        print(f"report                     {report}; limit {MOST_SECONDS:.0f} s")
        print(f"page                       {len(text.encode()) / 1e6:6.2f} MB; limit {MOST_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
