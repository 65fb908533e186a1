"""Regret of CME-RL under each bonus mode, against uniformly random actions, with the reward known and learned.

    python benchmarks/modes.py --episodes 200 --seeds 4

"late/early" is the mean regret of the last quarter of the episodes divided by that of the first quarter: 1 is
no progress, 0 is solved.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import gymnasium
import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import cmerl
from cmerl.agents import CMERL, RandomAgent

WORLDS = ("cmerl/RiverSwim-v0", "cmerl/GridWorld-v0")
MODES = ("random", "paper", "tight", "split", "nonnegative", "practical")
JOBS = 2


def play(world: str, mode: str, known: bool, seed: int, episodes: int) -> np.ndarray:
    """Regret of each episode."""
    with threadpool_limits(1):
        env = gymnasium.make(world)
        if mode == "random":
            agent = RandomAgent(env, seed=seed)
        else:
            R = env.unwrapped.R
            agent = CMERL(env, seed=seed, bonus=mode, reward=(lambda s, a: R[s, a]) if known else "learned")
        return np.array([record.regret for record in agent.learn(episodes).history])


def rows(episodes: int, seeds: int) -> Iterator[tuple[str, ...]]:
    """One row of text a world, mode and kind of reward."""
    cases = [case for case in product(WORLDS, MODES, (True, False)) if case[1:] != ("random", False)]
    tasks = [(*case, seed) for case in cases for seed in range(seeds)]
    regrets = Parallel(n_jobs=JOBS)(delayed(play)(*task, episodes) for task in tasks)
    quarter = max(episodes // 4, 1)
    for i, (world, mode, known) in enumerate(cases):
        runs = np.array(regrets[i * seeds : (i + 1) * seeds])  # (seeds, episodes)
        early, late = runs[:, :quarter].mean(), runs[:, -quarter:].mean()
        horizon = gymnasium.make(world).unwrapped.horizon
        best = cmerl.oracles.solve(gymnasium.make(world), horizon).value(0)
        reward = "–" if mode == "random" else "known" if known else "learned"
        total = runs.sum(axis=1)
        yield (
            world.removeprefix("cmerl/").removesuffix("-v0"),
            mode,
            reward,
            f"{total.mean():.0f}",
            f"{total.max():.0f}",
            f"{total.mean() / (episodes * best):.2f}",
            f"{late / early:.2f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="regret of CME-RL under each bonus mode")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    print("| world | mode | reward | mean regret | worst seed | share of V* lost | late/early |")
    print("|---|---|---|---|---|---|---|")
    for row in rows(options.episodes, options.seeds):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
