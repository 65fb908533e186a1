"""Run directories made by hand, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

HOSTILE = "<script>alert('cmerl')</script>&\"x\""


def lines(
    env: str, agent: str, seed: int, episodes: int, *, power: float = 0.5, rich: bool = True
) -> list[dict[str, Any]]:
    """Episodes of one unit whose cumulative regret grows about like episodes ** power."""
    rng = np.random.default_rng([seed, len(agent), len(env)])
    total = 2.0 * np.arange(episodes + 1) ** power * (1 + 0.1 * rng.random())
    regret = np.diff(total) * rng.uniform(0.5, 1.5, episodes)
    rows = []
    for e in range(episodes):
        metrics: dict[str, Any] = {"optimum": 3.4}
        if rich:
            metrics |= {
                "value": 3.4 + 5 / (e + 1),
                "information_gain": float(np.log1p(e)),
                "dictionary": min(e + 1, 12),
                "regret_bound": 300 + 40 * float(np.sqrt(e + 1)),
                "in_set": True,
                "optimistic": bool(e < episodes - 3 or seed > 0),
                "active": "fast" if rng.random() < e / episodes else "safe",
            }
        rows.append(
            {
                "env": env,
                "agent": agent,
                "seed": seed,
                "episode": e,
                "return": 3.4 - regret[e] + 0.2 * rng.normal(),
                "length": 20,
                "regret": regret[e],
                "regret_kind": "policy",
                "seconds": 0.002 + 0.001 * rng.random(),
                "metrics": metrics,
            }
        )
    return rows


def make(
    path: Path,
    *,
    envs: tuple[str, ...] = ("cmerl/RiverSwim-v0", "cmerl/GridWorld-v0"),
    agents: tuple[str, ...] = ("cme-rl", "greedy", "random"),
    seeds: int = 4,
    episodes: int = 60,
) -> Path:
    """A finished run."""
    path.mkdir(parents=True, exist_ok=True)
    with open(path / "episodes.jsonl", "w", encoding="utf-8") as file:
        for env in envs:
            for i, agent in enumerate(agents):
                for seed in range(seeds):
                    for row in lines(env, agent, seed, episodes, power=0.4 + 0.3 * i, rich=i == 0):
                        file.write(json.dumps(row) + "\n")
    manifest = {"command": "cmerl run x --episodes 60", "versions": {"cmerl": "0.1.0", "numpy": "2.0"}, "spec": {}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    (path / "summary.json").write_text("{}")
    return path


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Episodes alone, with an empty manifest."""
    (path / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (path / "manifest.json").write_text("{}")
