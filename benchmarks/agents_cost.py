"""What an episode costs every agent, early and late, in the worlds of one or more suites.

    python benchmarks/agents_cost.py suites/cost.toml suites/cost-grid.toml suites/linear-quadratic.toml

plays the first seed of each suite in this process and counts processor time, so that the load of the machine matters
little. Of the directory of a run, it reads the seconds that were recorded there, which are by the clock:

    cmerl run suites/cost.toml --out runs/cost
    python benchmarks/agents_cost.py runs/cost

An episode is what the agent and the environment take, without the oracle that computes regret. A certificate costs
the same for all agents: where suites are played it is left out of every row but that of "random, certificate";
seconds that were recorded include it. "early" is the median of the first tenth of the episodes, the very first left
out, and "late" that of the last tenth; their ratio says whether an agent's cost grows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from cmerl.experiments import load
from cmerl.experiments.spec import parse, read
from cmerl.experiments.units import make_agent, units_of

Seconds = dict[str, dict[str, list[float]]]
"""Of each episode, by the label of the agent and of the world."""


@contextmanager
def processor_time() -> Iterator[None]:
    """Inside, the seconds of an episode are those of the processor."""
    clock = SimpleNamespace(perf_counter=time.process_time)
    with threadpool_limits(1), mock.patch("cmerl.agents.episode.time", clock):
        yield


def played(suite: Path) -> Seconds:
    """The first seed of a suite, one unit after the other."""
    spec, found = parse(read(suite)), Seconds()
    for unit in units_of(spec):
        world, agent, seed = unit.key
        if seed != spec.seed_list[0]:
            continue
        for certificate in (False, True) if agent == "random" else (False,):
            player = make_agent(unit)
            if not certificate:
                player._books = "not asked for"
            with processor_time():
                player.learn(unit.episodes)
            label = f"{agent}, certificate" if certificate else agent
            found.setdefault(label, {})[world] = [record.seconds for record in player.history]
    return found


def recorded(run: Path) -> Seconds:
    """The same from a run: of its first seed, by the clock."""
    results = load(run)
    first = min(unit.seed for unit in results.units)
    found: Seconds = {}
    for line in results.episodes:
        if line["seed"] == first:
            found.setdefault(line["agent"], {}).setdefault(line["env"], []).append(line["seconds"])
    return found


def cell(seconds: list[float]) -> str:
    """Milliseconds early and late, and their ratio."""
    tenth = max(len(seconds) // 10, 1)
    early = 1e3 * float(np.median(seconds[1 : tenth + 1] if len(seconds) > 1 else seconds))
    late = 1e3 * float(np.median(seconds[-tenth:]))
    return f"{early:.1f}, {late:.1f} | {late / early:.1f}"


def table(found: Seconds) -> str:
    """A row for each agent, two columns for each world."""
    worlds = list(dict.fromkeys(world for row in found.values() for world in row))
    head = " | ".join(f"{world}: early, late (ms) | ratio" for world in worlds)
    lines = [f"| agent | {head} |", "|---|" + "---|---|" * len(worlds)]
    for agent in sorted(found):
        cells = [cell(found[agent][world]) if world in found[agent] else " | " for world in worlds]
        lines.append(f"| `{agent}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="suites to play, or directories of runs")
    found: Seconds = {}
    for source in parser.parse_args().sources:
        for agent, row in (recorded(source) if source.is_dir() else played(source)).items():
            found.setdefault(agent, {}).update(row)
    print(table(found))


if __name__ == "__main__":
    main()
