"""Regret of CME-RL under each bonus mode, against uniformly random actions, with the reward known and learned.

    python benchmarks/modes.py --episodes 200 --seeds 4
    python benchmarks/modes.py --episodes 4000 --seeds 2 --worlds RiverSwim --rewards known

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

WORLDS = ("RiverSwim", "GridWorld")
MODES = ("random", "paper", "tight", "split", "nonnegative", "practical")
REWARDS = ("known", "learned")
JOBS = 2


def make(world: str) -> gymnasium.Env:
    return gymnasium.make(f"cmerl/{world}-v0")


def play(world: str, mode: str, reward: str, seed: int, episodes: int) -> np.ndarray:
    """Regret of each episode."""
    with threadpool_limits(1):
        env = make(world)
        if mode == "random":
            agent = RandomAgent(env, seed=seed)
        else:
            R = env.unwrapped.R
            known = (lambda s, a: R[s, a]) if reward == "known" else reward
            agent = CMERL(env, seed=seed, bonus=mode, reward=known)
        return np.array([record.regret for record in agent.learn(episodes).history])


def rows(options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """One row of text a world, mode and kind of reward."""
    cases: list[tuple[str, str, str]] = []
    for world, mode in product(options.worlds, options.modes):
        cases += [(world, mode, reward) for reward in (["–"] if mode == "random" else options.rewards)]
    tasks = [(*case, seed) for case in cases for seed in range(options.seeds)]
    regrets = Parallel(n_jobs=JOBS)(delayed(play)(*task, options.episodes) for task in tasks)
    quarter = max(options.episodes // 4, 1)
    for i, case in enumerate(cases):
        runs = np.array(regrets[i * options.seeds : (i + 1) * options.seeds])  # (seeds, episodes)
        early, late = runs[:, :quarter].mean(), runs[:, -quarter:].mean()
        env = make(case[0])
        best = cmerl.oracles.solve(env, env.unwrapped.horizon).value(0)
        total = runs.sum(axis=1)
        yield (
            *case,
            f"{total.mean():.0f}",
            f"{total.max():.0f}",
            f"{total.mean() / (options.episodes * best):.2f}",
            f"{late / early:.2f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="regret of CME-RL under each bonus mode")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--rewards", nargs="+", choices=REWARDS, default=REWARDS)
    options = parser.parse_args()
    print("| world | mode | reward | mean regret | worst seed | share of V* lost | late/early |")
    print("|---|---|---|---|---|---|---|")
    for row in rows(options):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
