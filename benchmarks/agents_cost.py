"""What an episode costs every agent, early and late: RiverSwim-6 and a grid of 400 states, in one table.

Milliseconds of CPU time of the agent and its environment, without the oracle that computes regret: the load of the
machine matters little. "early" is the median of the first tenth of the episodes, the very first left out, and "late"
that of the last tenth; their ratio says whether an agent's cost grows. The certificate, which costs the same for all,
is left out of every row but the last, where the random agent has it.

    python benchmarks/agents_cost.py [--agent NAME]… [--episodes 300] [--limit 5]

An agent that has used ``--limit`` seconds in a world is stopped, and the table says after how many episodes.
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
    agent._regret = lambda policies, seen: (None, None)
    ticks = [time.process_time()]

    def tick(agent: cmerl.agents.Agent, record: cmerl.agents.EpisodeRecord) -> bool:
        ticks.append(time.process_time())
        return ticks[-1] - ticks[0] < limit

    agent.learn(episodes, callback=tick)
    spent = 1e3 * np.diff(ticks)
    tenth = max(len(spent) // 10, 1)
    return (
        float(np.median(spent[1 : tenth + 1] if len(spent) > 1 else spent)),
        float(np.median(spent[-tenth:])),
        len(spent),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", action="append")
    parser.add_argument("--episodes", type=int, default=300)
    parser.add_argument("--limit", type=float, default=5.0)
    given = parser.parse_args()
    print("| agent | " + " | ".join(f"{world}: early, late (ms) | ratio | episodes" for world in WORLDS) + " |")
    print("|---|" + "---|---|---|" * len(WORLDS))
    for name in given.agent or [*cmerl.agents.names(), CERTIFICATE]:
        cells = []
        for world in WORLDS:
            try:
                early, late, played = cost(name, world, given.episodes, given.limit)
                cells += [f"{early:.1f}, {late:.1f}", f"{late / early:.1f}", str(played)]
            except CmerlError:
                cells += ["does not play here", "", ""]
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
