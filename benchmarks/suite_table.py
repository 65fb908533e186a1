r"""The regret table of one or more runs, as Markdown.

    cmerl run suites/tabular.toml --out runs/tabular
    python benchmarks/suite_table.py runs/tabular --keep benchmarks/results/tabular.json
    python benchmarks/suite_table.py benchmarks/results/comparison.json --beside cme-rl

A source is the directory of a run, or a file of regrets that ``--keep`` has written; where two have the same agent in
the same world, the last one counts. A cell is the mean cumulative regret over seeds and its 95 % bootstrap interval,
as in the run's summary.json, then the range over seeds. With ``--beside`` the range is left out, and − or + after a
cell says that its agent lost less or more than the one named: that the 95 % interval of the sign-flip test over
shared seeds does not contain 0.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from cmerl.experiments import load
from cmerl.experiments.statistics import bootstrap_interval, paired_difference
from cmerl.experiments.summary import INTERVAL_SEED

Regrets = dict[str, dict[str, list[float]]]
"""Cumulative regrets, one a seed, by the label of the agent and of the world."""


def regrets(directory: Path) -> Regrets:
    """What a run has lost: every seed that has played all its episodes."""
    results = load(directory)
    lost: dict[tuple[str, str, int], list[float]] = {}
    for line in results.episodes:
        lost.setdefault((line["agent"], line["env"], line["seed"]), []).append(line["regret"])
    found: Regrets = {}
    for unit in results.units:
        world, agent, seed = unit.key
        episodes = lost.get((agent, world, seed), [])
        if len(episodes) == unit.episodes:
            found.setdefault(agent, {}).setdefault(world, []).append(round(sum(episodes), 4))
    return found


def gathered(sources: list[Path]) -> Regrets:
    """All sources together."""
    found: Regrets = {}
    for source in sources:
        for agent, row in (regrets(source) if source.is_dir() else json.loads(source.read_text())).items():
            found.setdefault(agent, {}).update(row)
    return found


def keep(found: Regrets, file: Path) -> None:
    """Write regrets as JSON, a line for each agent in each world."""
    rows = []
    for agent, row in found.items():
        cells = (f"  {json.dumps(world)}: {json.dumps(lost)}" for world, lost in row.items())
        rows.append(f" {json.dumps(agent)}: {{\n" + ",\n".join(cells) + "\n }")
    file.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def cell(lost: list[float], beside: list[float] | None = None) -> str:
    """Mean, interval, and the range or how it compares."""
    mean, (low, high) = float(np.mean(lost)), bootstrap_interval(lost, seed=INTERVAL_SEED)
    digits = 0 if mean >= 10 else 1
    words = f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
    if beside is None:
        return f"{words} ({min(lost):.{digits}f} – {max(lost):.{digits}f})"
    if len(lost) != len(beside):  # of a run that goes on
        return f"{words} ({len(lost)} of {len(beside)} seeds)"
    difference = paired_difference(lost, beside, seed=INTERVAL_SEED)
    return words + (" −" if difference.high < 0 else " +" if difference.low > 0 else "")


def table(found: Regrets, beside: str | None = None, worlds: list[str] | None = None) -> str:
    """A row for each agent, a column for each world."""
    worlds = worlds or list(dict.fromkeys(world for row in found.values() for world in row))
    lines = ["| agent | " + " | ".join(worlds) + " |", "|---|" + "---|" * len(worlds)]
    for agent, row in found.items():
        cells = [
            cell(row[world], None if beside is None else found[beside][world]) if world in row else ""
            for world in worlds
        ]
        if any(cells):
            lines.append(f"| `{agent}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="run directories, or files of regrets")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the regrets of all seeds there too")
    parser.add_argument("--beside", metavar="LABEL", help="the agent to compare with")
    parser.add_argument("--world", action="append", metavar="LABEL", help="a column; by default all")
    given = parser.parse_args()
    found = gathered(given.sources)
    if given.keep:
        keep(found, given.keep)
    print(table(found, given.beside, given.world))


if __name__ == "__main__":
    main()
