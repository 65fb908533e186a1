"""Which κ suits the guard: chosen on chains drawn at random, confirmed once on worlds that had no say.

    python benchmarks/guard.py choose         # κ on random chains, with the default's prior and with a reckless one
    python benchmarks/guard.py choose --kappas 2 3 --seeds 12      # those that are left, with more seeds
    python benchmarks/guard.py confirm        # the default κ beside `practical`, in the named worlds
    python benchmarks/guard.py reckless       # the same with a prior a hundred times too small

Each line gives the regret of `practical`, of the same without planning anew inside an episode ("one plan"), which is
all that a guard can propose, and of `guarded`; mean ± standard error over seeds, in parentheses the episodes of the
KL plan. The rule of `choose`: the smallest κ that costs at most a tenth more than one plan on every chain.
"""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl.confidence import Guarded, Practical
from cmerl.envs import Chain, DeepSea, FiniteMDP, GridWorld, RiverSwim, random_mdp

KAPPAS = (1.25, 1.5, 2.0, 3.0)
RECKLESS = 0.01
World = tuple[Callable[[], gymnasium.Env[Any, Any]], int, dict[str, Any]]
"""How to make it, the episodes, and the options of agents that learn its rewards; none where these are known."""


def random_chain(number: int) -> FiniteMDP:
    """A chain that one action climbs, with odds drawn for each state: a rare reward at its end, crumbs at its start.

    The number of the action that climbs is drawn for each state, too, so that no order of ties favours it.
    """
    rng = np.random.default_rng([77, number])
    S, A = int(rng.integers(4, 8)), int(rng.integers(2, 4))
    horizon, last = int(S * rng.uniform(2, 4)), S - 1
    P, R = np.zeros((S, A, S)), np.zeros((S, A))
    for s in range(S):
        up, stay, down = min(s + 1, last), s, max(s - 1, 0)
        for rank, a in enumerate(rng.permutation(A)):
            alpha = ((4.0, 4.0, 0.5), (1e-3, 0.5, 4.0), (1.0, 1.0, 1.0))[rank]
            np.add.at(P[s, a], [up, stay, down], rng.dirichlet(alpha))
            if rank == 0 and s == last:
                R[s, a] = rng.uniform(0.5, 1.0)
            elif s == 0:
                R[s, a] = rng.uniform(0.0, 0.03)
    return FiniteMDP(P, R, horizon=horizon)


def toy_text(name: str, **options: Any) -> World:
    """A world of Gymnasium's, whose rewards are learned; 40 steps."""
    return (lambda: gymnasium.make(name, max_episode_steps=40)), options.pop("episodes"), options


CHAINS: dict[str, World] = {f"chain {i}": ((lambda i=i: random_chain(i)), 150, {}) for i in range(4)}
NAMED: dict[str, World] = {
    "random 6×3, H = 8": (lambda: random_mdp(6, 3, seed=501, horizon=8), 200, {}),
    "random 5×4, H = 6": (lambda: random_mdp(5, 4, seed=503, horizon=6), 200, {}),
    "RiverSwim-6": (RiverSwim, 300, {}),
    "Chain": (Chain, 200, {}),
    "DeepSea-6": (lambda: DeepSea(6), 150, {}),
    "FrozenLake": toy_text("FrozenLake-v1", episodes=200, reward_range=(0.0, 1.0)),
    "CliffWalking": toy_text("CliffWalking-v1", episodes=60, reward_range=(-100.0, 0.0)),
    "GridWorld-5x5": (GridWorld, 200, {}),
}


def regret(world: World, seed: int, options: dict[str, Any]) -> tuple[float, int]:
    """The regret of one run, and in how many of its episodes the KL plan played."""
    make, episodes, learned = world
    env = make()
    about: dict[str, Any] = dict(learned)
    if not learned:
        R = env.unwrapped.R
        about = {"reward": lambda s, a: float(R[s, a]), "reward_range": (0.0, 1.0)}
    history = cmerl.CMERL(env, seed=seed, **options, **about).learn(episodes).history
    return sum(r.regret or 0.0 for r in history), sum(r.metrics.get("played") == "kl" for r in history)


def contenders(scale: float, kappas: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Options of the agents to compare, with a prior of that scale."""
    found: dict[str, dict[str, Any]] = {"one plan": {"bonus": Practical(prior_scale=scale), "replan": False}}
    return found | {f"κ = {k:g}": {"bonus": Guarded(kappa=k, prior_scale=scale)} for k in kappas}


def table(worlds: dict[str, World], compared: dict[str, dict[str, Any]], seeds: range) -> dict[str, np.ndarray]:
    """Print a line for each world; mean regrets (worlds,) of every contender."""
    print("| world (episodes) | " + " | ".join(compared) + " |\n|" + "---|" * (len(compared) + 1), flush=True)
    means: dict[str, list[float]] = {name: [] for name in compared}
    for label, world in worlds.items():
        cells = []
        for name, options in compared.items():
            runs = [regret(world, seed, options) for seed in seeds]
            x, kl = np.array([lost for lost, _ in runs]), np.mean([played for _, played in runs])
            means[name].append(x.mean())
            played = f" ({kl:.0f})" if kl else ""
            cells.append(f"{x.mean():.3g} ± {x.std(ddof=1) / np.sqrt(len(x)):.2g}{played}")
        print(f"| {label} ({world[1]}) | " + " | ".join(cells) + " |", flush=True)
    return {name: np.array(x) for name, x in means.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("choose", "confirm", "reckless"))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=900)
    parser.add_argument("--worlds", nargs="*", help="some of them")
    parser.add_argument("--kappas", type=float, nargs="*", default=KAPPAS, help="what choose compares")
    given = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    worlds = CHAINS if given.what == "choose" else NAMED
    worlds = {name: world for name, world in worlds.items() if not given.worlds or name in given.worlds}
    if given.what != "choose":
        scale = RECKLESS if given.what == "reckless" else 1.0
        default = {"practical": {"bonus": Practical(prior_scale=scale)}}
        found = table(worlds, default | contenders(scale, (Guarded().kappa,)), seeds)
        print(
            "| worst ratio to practical | "
            + " | ".join(f"{(x / found['practical']).max():.2f}" for x in found.values())
        )
        return
    good = table(worlds, contenders(1.0, given.kappas), seeds)
    costs = {name: (x / good["one plan"]).max() for name, x in good.items()}
    print("| worst ratio to one plan | " + " | ".join(f"{x:.2f}" for x in costs.values()) + " |")
    print("chosen:", next((k for k in given.kappas if costs[f"κ = {k:g}"] <= 1.1), None))
    bad = table(worlds, contenders(RECKLESS, given.kappas), seeds)
    left = {name: np.exp(np.log(x / bad["one plan"]).mean()) for name, x in bad.items()}
    print("| geometric mean of ratios to one plan | " + " | ".join(f"{x:.2f}" for x in left.values()) + " |")


if __name__ == "__main__":
    main()
