"""The regret table of a suite, without the run directory and certificates of ``cmerl run``: quicker, same figures.

A unit of a suite depends on its world, agent and seed alone, so ``cmerl run SUITE`` gives the same regret.

    python benchmarks/suite_table.py suites/tabular.toml [--agent LABEL]… [--seeds K] [--episodes N]
    python benchmarks/suite_table.py suites/comparison.toml --results benchmarks/results/comparison.json [--table]

Prints the mean cumulative regret over seeds, its 95 % bootstrap interval, and the range. With ``--results`` the
regrets of all runs are kept in a file, from which an interrupted table goes on; ``--table`` only prints it.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

import gymnasium
import numpy as np

import cmerl
from cmerl.errors import CmerlError
from cmerl.experiments.spec import AgentSpec, EnvironmentSpec, Spec, parse, read

Results = dict[str, dict[str, list[float]]]
"""Cumulative regrets, one a seed, by the label of the agent and of the world; none where it does not play."""


def regrets(
    env: EnvironmentSpec, agent: AgentSpec, horizon: int | None, episodes: int, seeds: list[int]
) -> list[float]:
    """Cumulative regret of each seed; none where the agent refuses the world."""
    found = []
    for seed in seeds:
        world = gymnasium.make(env.id, **env.options)
        try:
            player = cmerl.agents.make(agent.name, world, horizon=env.horizon or horizon, seed=seed, **agent.options)
        except CmerlError:
            return []
        player._books = "not asked for" if player._books is None else player._books  # modes that count need theirs
        found.append(float(sum(record.regret for record in player.learn(episodes).history)))
    return found


def cell(found: list[float]) -> str:
    """Mean, interval and range."""
    if not found:
        return "does not play"
    x = np.array(found)
    means = np.random.default_rng(0).choice(x, (4000, len(x))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    digits = 0 if x.mean() >= 10 else 1
    return (
        f"{x.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}] ({x.min():.{digits}f} – {x.max():.{digits}f})"
    )


def play(spec: Spec, results: Results, given: argparse.Namespace) -> None:
    """Every cell that is missing, agent by agent, printed and kept as it comes."""
    seeds = list(range(given.seeds)) if given.seeds else spec.seed_list
    for agent in spec.agents:
        if given.agent and agent.label not in given.agent:
            continue
        row = results.setdefault(agent.label, {})
        for env in spec.environments:
            if env.label not in row:
                row[env.label] = regrets(env, agent, spec.horizon, given.episodes or spec.episodes, seeds)
                if given.results:
                    Path(given.results).write_text(json.dumps(results, indent=1) + "\n")
        print(line(agent.label, row, spec), flush=True)


def line(agent: str, row: dict[str, list[float]], spec: Spec) -> str:
    """One row of the table."""
    return (
        f"| `{agent}` | " + " | ".join(cell(row[env.label]) for env in spec.environments if env.label in row) + " |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--agent", action="append")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--results", help="keep the regrets of all runs in this file")
    parser.add_argument("--table", action="store_true", help="print what the file has, and play nothing")
    given = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    spec = parse(read(given.suite))
    results: Results = (
        json.loads(Path(given.results).read_text()) if given.results and Path(given.results).exists() else {}
    )
    print("| agent | " + " | ".join(env.label for env in spec.environments) + " |")
    print("|---|" + "---|" * len(spec.environments), flush=True)
    if not given.table:
        play(spec, results, given)
        return
    for agent, row in results.items():
        print(line(agent, row, spec))


if __name__ == "__main__":
    main()
