"""A stirred reactor with a temperature limit and a PI controller as fallback.

python examples/reactor.py [EPISODES]
"""

from __future__ import annotations

import sys
from collections import Counter

import cmerl
from cmerl.envs import PIController, Reactor


def main(episodes: int = 3) -> None:
    """Learn within the limit, and say what happened."""
    agent = cmerl.CMERL(
        Reactor(),
        limits={"temperature": (None, 375.0)},
        fallback=PIController(),
        seed=100,
    )
    agent.learn(episodes)
    for record in agent.history:
        by = Counter(entry["by"] for entry in record.metrics.get("interventions", ()))
        print(f"episode {record.episode:2d}: product {record.ret:5.2f}, {record.length} steps, {dict(by)}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
