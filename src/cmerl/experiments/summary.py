"""Totals of a run, updated episode by episode, for summary.json."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cmerl.experiments.statistics import bootstrap_interval

INTERVAL_SEED = 0


@dataclass
class Totals:
    """Sums over the finished episodes of one unit; ``regret`` is None once an episode had none."""

    episodes: int = 0
    ret: float = 0.0
    regret: float | None = 0.0
    seconds: float = 0.0
    best: float = -math.inf
    certified: float | None = None  # what all of them have lost at most, where the last one says so

    def add(self, line: dict[str, Any]) -> None:
        """Count a line of episodes.jsonl."""
        self.episodes += 1
        self.ret += line["return"]
        self.seconds += line["seconds"]
        self.best = max(self.best, line["return"])
        self.certified = line.get("metrics", {}).get("certified_regret")
        if line["regret"] is None or self.regret is None:
            self.regret = None
        else:
            self.regret += line["regret"]


def summarise(env: str, agent: str, units: Sequence[Totals]) -> dict[str, Any]:
    """The entry of summary.json for one agent in one environment.

    Args:
        env: the environment's label.
        agent: the agent's label.
        units: totals, one for each seed.
    """
    begun = [unit for unit in units if unit.episodes]
    episodes = sum(unit.episodes for unit in begun)
    known = begun and all(unit.regret is not None for unit in begun)
    return {
        "env": env,
        "agent": agent,
        "seeds": len(units),
        "episodes": min((unit.episodes for unit in units), default=0),  # of every seed
        "episodes_total": episodes,
        "return": _estimate([unit.ret / unit.episodes for unit in begun]),
        "cumulative_regret": _estimate([unit.regret for unit in begun if unit.regret is not None]) if known else None,
        "certified_regret": _estimate([unit.certified for unit in begun if unit.certified is not None])
        if begun and all(unit.certified is not None for unit in begun)
        else None,
        "best_return": max((unit.best for unit in begun), default=None),
        "seconds_per_episode": sum(unit.seconds for unit in begun) / episodes if episodes else None,
    }


def _estimate(values: list[float]) -> dict[str, float | None] | None:
    """The mean over seeds with its 95 % bootstrap interval; a single seed has none."""
    if not values:
        return None
    low, high = bootstrap_interval(values, seed=INTERVAL_SEED)
    mean = values[0] + sum(value - values[0] for value in values) / len(values)
    return {"mean": mean, "low": None if math.isnan(low) else low, "high": None if math.isnan(high) else high}
