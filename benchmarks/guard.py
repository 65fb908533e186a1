"""Which κ suits the guard: chosen on random worlds, confirmed on others that had no say.

    python benchmarks/guard.py choose
    python benchmarks/guard.py confirm
    python benchmarks/guard.py reckless       # the default's prior a hundred times too small

Each line gives the regret of `practical`, and of `guarded` for every κ, summed over episodes, with the reward known;
mean ± standard error over seeds. The last line of a table has the geometric mean of the ratios to `practical`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl.confidence import Guarded, Practical
from cmerl.envs import Chain, DeepSea, RiverSwim, random_mdp

KAPPAS = (2.0, 5.0, 10.0, 20.0)
World = Callable[[], gymnasium.Env[Any, Any]]


def worlds(first: int) -> dict[str, tuple[World, int]]:
    sizes = [(4, 2, 5), (6, 3, 8), (8, 2, 10), (5, 4, 6)]
    return {
        f"random {S}×{A}, H = {H}": (lambda S=S, A=A, H=H, i=i: random_mdp(S, A, seed=first + i, horizon=H), 200)
        for i, (S, A, H) in enumerate(sizes)
    }


CONFIRM: dict[str, tuple[World, int]] = {
    **worlds(500),
    "RiverSwim-6": (RiverSwim, 300),
    "RiverSwim-4": (lambda: RiverSwim(4, 10), 300),
    "Chain": (Chain, 200),
    "DeepSea-6": (lambda: DeepSea(6), 150),
}


def regret(make: World, episodes: int, seed: int, bonus: Any) -> float:
    env = make()
    R = env.unwrapped.R
    agent = cmerl.CMERL(env, seed=seed, bonus=bonus, reward=lambda s, a: float(R[s, a]), reward_range=(0.0, 1.0))
    return float(sum(record.regret or 0.0 for record in agent.learn(episodes).history))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("choose", "confirm", "reckless"))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=900)
    given = parser.parse_args()
    scale = 0.01 if given.what == "reckless" else 1.0
    modes = {"practical": Practical(prior_scale=scale)}
    modes |= {f"κ = {k:g}": Guarded(kappa=k, prior_scale=scale) for k in KAPPAS}
    table = {
        "choose": worlds(0),
        "confirm": CONFIRM,
        "reckless": {"RiverSwim-6": CONFIRM["RiverSwim-6"], **worlds(500)},
    }
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    print("| world (episodes) | " + " | ".join(modes) + " |\n|" + "---|" * (len(modes) + 1))
    ratios: dict[str, list[float]] = {name: [] for name in modes}
    for world, (make, episodes) in table[given.what].items():
        found = {name: np.array([regret(make, episodes, s, mode) for s in seeds]) for name, mode in modes.items()}
        cells = [f"{x.mean():.3g} ± {x.std(ddof=1) / np.sqrt(len(x)):.2g}" for x in found.values()]
        print(f"| {world} ({episodes}) | " + " | ".join(cells) + " |", flush=True)
        for name, x in found.items():
            ratios[name].append(np.log(max(x.mean(), 1e-9) / max(found["practical"].mean(), 1e-9)))
    print("| ratio | " + " | ".join(f"{np.exp(np.mean(r)):.2f}" for r in ratios.values()) + " |")


if __name__ == "__main__":
    main()
