"""Soak: does anything grow that should not? The default agent in a continuous world, for hours.

    python benchmarks/soak.py                          # 10⁶ steps in 10⁵ episodes
    python benchmarks/soak.py --steps 20000 --horizon 10

For each tenth of the run this prints the memory of the process, its open files and the processor time of an episode;
at the end the ratio of the last three tenths to the three before them: 1 is flat.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import cmerl


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--env", default="cmerl/PBall2D-v0")
    options.add_argument("--steps", type=int, default=1_000_000)
    options.add_argument("--horizon", type=int, default=10)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    episodes = chosen.steps // chosen.horizon
    agent = cmerl.CMERL(gymnasium.make(chosen.env), horizon=chosen.horizon, seed=chosen.seed)
    print(f"{chosen.env}, {episodes} episodes of {chosen.horizon} steps, seed {chosen.seed}")
    print(f"{'episodes':>10}{'memory, MB':>12}{'files':>7}{'ms an episode':>15}{'backend':>14}")
    rows = [tenth(agent, max(episodes // 10, 1)) for _ in range(10)]
    before, after = np.mean(rows[4:7], axis=0), np.mean(rows[7:], axis=0)
    ratios = after / before
    said = ", ".join(f"{name} {ratio:.3f}" for name, ratio in zip(("memory", "files", "time"), ratios, strict=True))
    print(f"the last three tenths over the three before: {said}")


def tenth(agent: Any, episodes: int) -> tuple[float, float, float]:
    """Play some episodes; memory, files and seconds an episode."""
    started = time.process_time()
    agent.learn(episodes)
    seconds = (time.process_time() - started) / episodes
    memory, files = resident(), float(len(os.listdir("/proc/self/fd")))
    backend = agent.embedding.diagnostics()["backend"]
    print(f"{len(agent.history):>10}{memory:>12.1f}{files:>7.0f}{1000 * seconds:>15.2f}{backend:>14}", flush=True)
    return memory, files, seconds


def resident() -> float:
    """Memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
