"""Exact regret of CME-RL as it comes, without any option set but the maximal return where it says so.

    python benchmarks/regret.py
    python benchmarks/regret.py --worlds RiverSwim-6 --seeds 4

"worst" is the worst seed; a seed is stuck if its mean regret over the last tenth of the episodes exceeds a fifth
of V*.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

import cmerl
from cmerl.experiments.statistics import summarise_regret

FIRST_SEED = 100


@dataclass(frozen=True)
class Case:
    """A world, how long it is played, and what the agent is told."""

    world: str
    episodes: int
    world_options: dict[str, Any] = field(default_factory=dict)
    agent_options: dict[str, Any] = field(default_factory=dict)

    def make(self) -> gymnasium.Env[Any, Any]:
        """The world, fresh."""
        return gymnasium.make(f"cmerl/{self.world}-v0", **self.world_options)

    def regrets(self, seed: int) -> np.ndarray:
        """Regret of each episode."""
        with threadpool_limits(1):
            agent = cmerl.CMERL(self.make(), seed=seed, **self.agent_options).learn(self.episodes)
        return np.array([record.regret for record in agent.history])


CASES = {
    "RiverSwim-6": Case("RiverSwim", 1000),
    "GridWorld-5x5": Case("GridWorld", 1000),
    "DeepSea-10": Case("DeepSea", 300, {"depth": 10}),
    "DeepSea-10, max_return=1": Case("DeepSea", 300, {"depth": 10}, {"max_return": 1.0}),
    "DeepSea-20": Case("DeepSea", 1000, {"depth": 20}),
    "DeepSea-20, max_return=1": Case("DeepSea", 1000, {"depth": 20}, {"max_return": 1.0}),
}


def row(name: str, seeds: range, jobs: int) -> str:
    case = CASES[name]
    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        regrets = np.array(Parallel()(delayed(case.regrets)(seed) for seed in seeds))
    env = case.make()
    optimum = cmerl.oracles.solve(env, env.unwrapped.horizon).value(0)
    s = summarise_regret(regrets, optimum=optimum, seed=0)
    cells = (
        name,
        case.episodes,
        f"{optimum:.4g}",
        f"{s.mean:.3g}",
        f"{s.low:.3g} – {s.high:.3g}",
        f"{s.worst:.3g}",
        f"{round(s.stuck * len(seeds))} of {len(seeds)}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=16, help=f"number of seeds, from {FIRST_SEED} on")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| world | episodes | V* | mean regret | 95 % interval | worst | stuck seeds |")
    print("|---|---|---|---|---|---|---|")
    for name in options.worlds:
        print(row(name, range(FIRST_SEED, FIRST_SEED + options.seeds), options.jobs), flush=True)


if __name__ == "__main__":
    main()
