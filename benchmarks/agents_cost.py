"""What an episode costs every agent, early and late: RiverSwim-6 and a grid of 400 states, in one table.

Seconds are those of ``EpisodeRecord``: the agent and its environment, without the oracle that computes regret.
"early" is the median of the first tenth of the episodes and "late" that of the last tenth; their ratio says whether
an agent's cost grows. The certificate, which costs the same for all, is timed on its own in the last row.

    python benchmarks/agents_cost.py [--agent NAME]… [--episodes 300] [--limit 20]

An agent that has played for ``--limit`` seconds in a world is stopped, and the table says after how many episodes.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np

import cmerl
from cmerl.errors import CmerlError

WORLDS = {
    "RiverSwim-6": lambda: gymnasium.make("cmerl/RiverSwim-v0"),
    "grid 20x20": lambda: gymnasium.make("cmerl/GridWorld-v0", size=20, walls=(), goal=(19, 19), horizon=40),
}
CERTIFICATE = "(certificate)"


def cost(name: str, world: str, episodes: int, limit: float) -> tuple[float, float, int]:
    """Milliseconds an episode early and late, and the episodes that were played."""
    agent = cmerl.agents.make("random" if name == CERTIFICATE else name, WORLDS[world](), seed=0)
    if name != CERTIFICATE:
        agent._books = "not asked for"
    started = time.perf_counter()
    agent.learn(episodes, callback=lambda agent, record: time.perf_counter() - started < limit)
    seconds = [1e3 * record.seconds for record in agent.history]
    tenth = max(len(seconds) // 10, 1)
    return float(np.median(seconds[1 : tenth + 1] or seconds)), float(np.median(seconds[-tenth:])), len(seconds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", action="append")
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--limit", type=float, default=20.0)
    given = parser.parse_args()
    print("| agent | " + " | ".join(f"{world}: early, late (ms) | ratio | episodes" for world in WORLDS) + " |")
    print("|---|" + "---|---|---|" * len(WORLDS))
    for name in given.agent or [*cmerl.agents.names(), CERTIFICATE]:
        cells = []
        for world in WORLDS:
            try:
                early, late, played = cost(name, world, given.episodes, given.limit)
                cells += [f"{early:.2g}, {late:.2g}", f"{late / early:.1f}", str(played)]
            except CmerlError:
                cells += ["does not play here", "", ""]
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
