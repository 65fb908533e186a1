r"""The regret table of suites, without the run directory and certificates of ``cmerl run``: quicker, same figures.

A unit of a suite depends on its world, agent and seed alone, so ``cmerl run SUITE`` gives the same regret.

    python benchmarks/suite_table.py suites/tabular.toml [--agent LABEL]… [--seeds K] [--episodes N]
    python benchmarks/suite_table.py suites/comparison.toml suites/cliffwalking.toml \
        --results benchmarks/results/comparison.json [--table --beside cme-rl]

Prints the mean cumulative regret over seeds, its 95 % bootstrap interval, and the range. With ``--results`` the
regrets of all runs are kept in a file, from which an interrupted table goes on; ``--table`` only prints it. With
``--beside`` the range is left out, and − or + after a cell says that its agent lost less or more than the one named:
that the 95 % bootstrap interval of the difference of their means does not contain 0.
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
RESAMPLES = 4000


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
        if player._books is None:  # modes that count have opened theirs
            player._books = "not asked for"
        found.append(round(float(sum(record.regret for record in player.learn(episodes).history)), 4))
    return found


def resampled(x: list[float], seed: int = 0) -> np.ndarray:
    """Means of bootstrap samples."""
    return np.random.default_rng(seed).choice(np.array(x), (RESAMPLES, len(x))).mean(axis=1)


def cell(found: list[float], beside: list[float] | None = None) -> str:
    """Mean, interval, and the range or how it compares."""
    if not found:
        return "does not play"
    x = np.array(found)
    low, high = np.quantile(resampled(found), [0.025, 0.975])
    digits = 0 if x.mean() >= 10 else 1
    words = f"{x.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
    if beside is None:
        return f"{words} ({x.min():.{digits}f} – {x.max():.{digits}f})"
    less, more = np.quantile(resampled(found, 1) - resampled(beside, 2), [0.025, 0.975])
    return words + (" −" if more < 0 else " +" if less > 0 else "")


def play(spec: Spec, results: Results, given: argparse.Namespace) -> None:
    """Every cell that is missing, agent by agent, kept as it comes."""
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


def table(worlds: list[str], results: Results, beside: str | None) -> str:
    """All that was played, a row for each agent."""
    lines = ["| agent | " + " | ".join(worlds) + " |", "|---|" + "---|" * len(worlds)]
    for agent, row in results.items():
        cells = [
            cell(row[world], None if beside is None else results[beside][world]) if world in row else ""
            for world in worlds
        ]
        lines.append(f"| `{agent}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--agent", action="append")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--results", help="keep the regrets of all runs in this file")
    parser.add_argument("--table", action="store_true", help="print what the file has, and play nothing")
    parser.add_argument("--beside", help="label of the agent to compare with")
    given = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    specs = [parse(read(suite)) for suite in given.suites]
    kept = Path(given.results) if given.results else None
    results: Results = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    for spec in [] if given.table else specs:
        play(spec, results, given)
    print(table([env.label for spec in specs for env in spec.environments], results, given.beside))


if __name__ == "__main__":
    main()
