"""Two versions of the library on the same tasks and seeds: does the newer one do as well, in the same time?

    git worktree add ../older COMMIT
    python benchmarks/parity.py ../older/src src                        # all tasks, eight seeds
    python benchmarks/parity.py ../older/src src --task Chain --seeds 20
    python benchmarks/parity.py --table                                 # what benchmarks/results/parity.json holds

Scores are mean returns of a task's last episodes, or minus its cumulative regret; more is better. A row gives both
means, the mean paired difference (newer minus older) with its 95 % interval (Student's t), the worst seed of each
version, and the processor time of an episode.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "parity.json"


@dataclass(frozen=True)
class Task:
    """A world with its options, the episodes to learn for, and the last ones that count; 0 counts all regret."""

    world: str
    episodes: int
    last: int = 0
    options: dict[str, Any] = field(default_factory=dict)


def ball(x: float, y: float) -> Task:
    return Task("cmerl/PBall2D-v0", 40, options={"centre": [x, y]})


TASKS = {
    "Chain": Task("cmerl/Chain-v0", 200),
    "DeepSea": Task("cmerl/DeepSea-v0", 150),
    "RiverSwim": Task("cmerl/RiverSwim-v0", 200),
    "GridWorld": Task("cmerl/GridWorld-v0", 200),
    "PBall2D, east": ball(0.75, 0.0),
    "PBall2D, north": ball(0.0, 0.75),
    "PBall2D, west": ball(-0.75, 0.0),
    "PBall2D, south-west": ball(-0.5, -0.5),
    "MountainCar": Task("MountainCar-v0", 8, 4, {"max_episode_steps": 200}),
    "CartPole": Task("CartPole-v1", 10, 4, {"max_episode_steps": 200}),
    "Pendulum": Task("Pendulum-v1", 8, 4, {"max_episode_steps": 200}),
}


def play(task: Task, seed: int) -> dict[str, float]:
    """One run with the library that is on the path."""
    import gymnasium
    import numpy as np

    import cmerl

    env = gymnasium.make(task.world, **task.options)
    agent, begun = cmerl.CMERL(env, seed=seed), time.process_time()
    history = agent.learn(task.episodes).history
    seconds = (time.process_time() - begun) / task.episodes
    counted = [r.ret for r in history[-task.last :]] if task.last else [-sum(r.regret or 0.0 for r in history)]
    return {"score": float(np.mean(counted)), "seconds": seconds}


def play_with(source: str, name: str, seeds: list[int]) -> list[dict[str, float]]:
    """Runs of one task with the library in another directory, in a process of their own."""
    path = {**os.environ, "PYTHONPATH": str(Path(source).resolve()), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--play", name, *map(str, seeds)]
    found = subprocess.run(command, env=path, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in found.stdout.splitlines()]


def row(name: str, older: list[dict[str, float]], newer: list[dict[str, float]]) -> str:
    """One line of the table."""
    import numpy as np
    from scipy import stats

    before, after = (np.array([run["score"] for run in runs]) for runs in (older, newer))
    took = [1e3 * float(np.mean([run["seconds"] for run in runs])) for runs in (older, newer)]
    gaps, n = after - before, len(before)
    half = float(stats.t.ppf(0.975, n - 1) * gaps.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return (
        f"| {name} ({TASKS[name].episodes}) | {n} | {before.mean():.4g} | {after.mean():.4g} | "
        f"{gaps.mean():+.3g} ± {half:.2g} | {before.min():.4g}, {after.min():.4g} | {took[0]:.0f}, {took[1]:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", help="directories with the older and the newer library")
    parser.add_argument("--task", default="", help="only tasks whose names start so")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=7000)
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--play", nargs="+", metavar="TASK SEED", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.play:
        for seed in given.play[1:]:
            print(json.dumps(play(TASKS[given.play[0]], int(seed))), flush=True)
        return
    if not given.table and len(given.sources) != 2:
        parser.error("give two directories, the older library's src and the newer one's")
    held: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    print("| task (episodes) | seeds | older | newer | difference | worst seed | ms an episode |")
    print("|---|---|---|---|---|---|---|")
    for name in TASKS:
        if not name.startswith(given.task):
            continue
        runs: dict[str, list[dict[str, float]]] = held.setdefault(name, {})
        if not given.table:
            wanted = range(given.first_seed, given.first_seed + given.seeds)
            seeds = [seed for seed in wanted if str(seed) not in runs]
            pairs = zip(*(play_with(source, name, seeds) for source in given.sources), strict=True)
            runs |= {str(seed): list(pair) for seed, pair in zip(seeds, pairs, strict=True)}
            RESULTS.write_text(json.dumps(held, indent=1) + "\n")
        if runs:
            print(row(name, [older for older, _ in runs.values()], [newer for _, newer in runs.values()]), flush=True)


if __name__ == "__main__":
    main()
