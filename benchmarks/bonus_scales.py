"""Which bonus scale suits an optimistic tabular agent: chosen on random worlds, confirmed on others.

A scale's score on a world is its cumulative regret divided by the best of all scales there; scores are averaged as
geometric means. Worlds to choose on: random MDPs that differ in size, horizon and concentration. Worlds to confirm
on: random MDPs with other seeds, RiverSwim and GridWorld, which have no say in the choice.

    python benchmarks/bonus_scales.py [--agent NAME]… [--seeds 4]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import gymnasium
import numpy as np

import cmerl

SCALES = (0.01, 0.03, 0.1, 0.3, 1.0)
AGENTS = ("ucbvi", "ucbvi-ch", "ucbvi-bf", "ucrl2", "kl-ucrl", "q-learning")  # and cme-ps, whose unit is 0.3
SIZES = ((5, 3, 10, 0.3), (8, 2, 10, 1.0), (6, 4, 8, 0.1), (10, 3, 15, 0.5))  # S, A, H, concentration
EPISODES = 200


def choose_on() -> dict[str, Callable[[], gymnasium.Env]]:
    return {f"random {i}": _random(i) for i in range(len(SIZES))}


def confirm_on() -> dict[str, Callable[[], gymnasium.Env]]:
    named = {name: (lambda id=f"cmerl/{name}-v0": gymnasium.make(id)) for name in ("RiverSwim", "GridWorld")}
    return {**{f"random {i + 100}": _random(i, 100) for i in range(len(SIZES))}, **named}


def _random(i: int, first: int = 0) -> Callable[[], gymnasium.Env]:
    S, A, H, concentration = SIZES[i]
    return lambda: cmerl.envs.random_mdp(S, A, seed=first + i, concentration=concentration, horizon=H)


def regrets(agent: str, make: Callable[[], gymnasium.Env], seeds: int) -> np.ndarray:
    """Mean cumulative regret of every scale."""
    return np.array([np.mean([regret(agent, make, scale, seed) for seed in range(seeds)]) for scale in SCALES])


def regret(agent: str, make: Callable[[], gymnasium.Env], scale: float, seed: int) -> float:
    """Cumulative regret of one run."""
    player = cmerl.agents.make(agent, make(), seed=seed, bonus_scale=scale)
    player._books = "not asked for"  # a certificate would take most of the time
    return sum(record.regret for record in player.learn(EPISODES).history)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", action="append")
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    print("| agent | worlds | " + " | ".join(f"{scale:g}" for scale in SCALES) + " |", flush=True)
    print("|---|---|" + "---|" * len(SCALES))
    for agent in given.agent or AGENTS:
        for what, worlds in (("to choose", choose_on()), ("to confirm", confirm_on())):
            table = np.array([regrets(agent, make, given.seeds) for make in worlds.values()])
            score = np.exp(np.log(table / table.min(axis=1, keepdims=True)).mean(axis=0))
            worst = (table / table.min(axis=1, keepdims=True)).max(axis=0)
            cells = [f"{mean:.2f} (worst {most:.1f})" for mean, most in zip(score, worst, strict=True)]
            print(f"| `{agent}` | {what} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
