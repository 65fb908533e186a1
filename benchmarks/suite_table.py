"""The regret table of a suite, without the run directory and certificates of ``cmerl run``: quicker, same figures.

A unit of a suite depends on its world, agent and seed alone, so ``cmerl run SUITE`` gives the same regret.

    python benchmarks/suite_table.py suites/tabular.toml [--agent LABEL]… [--seeds K] [--episodes N]

Prints the mean cumulative regret over seeds, its 95 % bootstrap interval, and the range.
"""

from __future__ import annotations

import argparse

import gymnasium
import numpy as np

import cmerl
from cmerl.experiments.spec import EnvironmentSpec, parse, read


def regrets(env: EnvironmentSpec, agent: str, options: dict, horizon: int | None, episodes: int, seeds: list[int]):
    """Cumulative regret of each seed (K,)."""
    found = []
    for seed in seeds:
        world = gymnasium.make(env.id, **env.options)
        player = cmerl.agents.make(agent, world, horizon=env.horizon or horizon, seed=seed, **options)
        player._books = "not asked for"
        found.append(sum(record.regret for record in player.learn(episodes).history))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("--agent", action="append")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--episodes", type=int)
    given = parser.parse_args()
    spec = parse(read(given.suite))
    seeds = list(range(given.seeds)) if given.seeds else spec.seed_list
    print("| agent | " + " | ".join(env.label for env in spec.environments) + " |")
    print("|---|" + "---|" * len(spec.environments), flush=True)
    for agent in spec.agents:
        if given.agent and agent.label not in given.agent:
            continue
        cells = []
        for env in spec.environments:
            x = regrets(env, agent.name, agent.options, spec.horizon, given.episodes or spec.episodes, seeds)
            means = np.random.default_rng(0).choice(x, (4000, len(x))).mean(axis=1)
            low, high = np.quantile(means, [0.025, 0.975])
            cells.append(f"{x.mean():.0f} [{low:.0f}, {high:.0f}] ({x.min():.0f} – {x.max():.0f})")
        print(f"| `{agent.label}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
