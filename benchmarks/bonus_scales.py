"""Which bonus scale suits an agent: chosen on some worlds, confirmed on others, from the runs of a suite.

    cmerl run suites/bonus-scales.toml --out runs/bonus-scales
    python benchmarks/bonus_scales.py runs/bonus-scales [--keep benchmarks/results/bonus-scales.json]

Agents are labelled "NAME, SCALE" there, and worlds "choose: …" or "confirm: …". A scale's score in a world is its
mean cumulative regret divided by that of the best scale there; given are geometric means over worlds, and the worst.
A file of regrets that ``--keep`` has written may stand in the place of a run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from suite_table import Regrets, gathered, keep


def scores(found: Regrets, agent: str, kind: str) -> dict[str, tuple[float, float]]:
    """Geometric mean and worst score over the worlds of a kind, by scale."""
    scales = [label for label in found if label.rpartition(", ")[0] == agent]
    played = set.intersection(*(set(found[label]) for label in scales))  # by all, in a run that goes on
    worlds = [world for world in found[scales[0]] if world.startswith(f"{kind}: ") and world in played]
    if not worlds:
        return {}
    lost = np.array([[np.mean(found[label][world]) for world in worlds] for label in scales])
    score = lost / lost.min(axis=0)
    means, worst = np.exp(np.log(score).mean(axis=1)), score.max(axis=1)
    return {label.rpartition(", ")[2]: (means[i], worst[i]) for i, label in enumerate(scales)}


def table(found: Regrets) -> str:
    """Two rows for each agent."""
    scales = list(dict.fromkeys(label.rpartition(", ")[2] for label in found))
    lines = ["| agent | worlds | " + " | ".join(scales) + " |", "|---|---|" + "---|" * len(scales)]
    for agent in dict.fromkeys(label.rpartition(", ")[0] for label in found):
        for kind in ("choose", "confirm"):
            score = scores(found, agent, kind)
            cells = ["{:.2f} (worst {:.1f})".format(*score[scale]) if scale in score else "" for scale in scales]
            lines.append(f"| `{agent}` | to {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="run directories, or files of regrets")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the regrets of all seeds there too")
    given = parser.parse_args()
    found = gathered(given.sources)
    if given.keep:
        keep(found, given.keep)
    print(table(found))


if __name__ == "__main__":
    main()
