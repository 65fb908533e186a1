"""Balancing over scales from reckless to useless, against every fixed scale in hindsight.

    python benchmarks/balancing.py --seeds 20 --root 1 --worlds chosen
    python benchmarks/balancing.py --seeds 50 --root 2 --worlds named
    python benchmarks/balancing.py --seeds 10 --worlds PBall2D

The rule was chosen on the first worlds and is confirmed on the others. Finite worlds are simulated by
benchmarks/tabular.py with the balancing rule of the agent; "shuffled" is DeepSea with its actions renumbered in every
cell, so that no single action leads to the treasure, and "bait" pays 0.1 (DeepSea) or 0.2 (GridWorld) for one action
at the start. Random worlds differ between seeds. PBall2D is played by the agent itself. A run is stuck if its last
tenth of episodes loses more than a fifth of V* on average.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import gymnasium
import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import cmerl
from cmerl.agents.cme_rl.balancing import balance
from cmerl.confidence import Balanced, Practical
from cmerl.confidence.balanced import SCALES
from cmerl.envs import Chain, DeepSea, FiniteMDP, GridWorld, RandomMDP, RiverSwim
from tabular import of_worlds

World = Callable[[int], gymnasium.Env]  # by seed


def shuffled(core: FiniteMDP, seed: int) -> FiniteMDP:
    """The same world with its actions renumbered in every state."""
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(core.R.shape[1]) for _ in core.R])
    P = np.take_along_axis(core.P, orders[:, :, None], 1)
    return FiniteMDP(P, np.take_along_axis(core.R, orders, 1), horizon=core.horizon)


def bait(core: FiniteMDP, reward: float) -> FiniteMDP:
    """The same world with a reward for action 0 at the start."""
    R = core.R.copy()
    R[0, 0] = reward
    return FiniteMDP(core.P, R, horizon=core.horizon)


def sparse(seed: int) -> FiniteMDP:
    """A random world, nearly deterministic, with few rewards worth having."""
    core = RandomMDP(12, 3, seed=seed, concentration=0.05, horizon=20)
    return FiniteMDP(core.P, np.where(core.R > 0.95, core.R, 0.02 * core.R), horizon=core.horizon)


CHOSEN: dict[str, tuple[World, int]] = {
    "RiverSwim, 4 states": (lambda seed: RiverSwim(4, 12), 400),
    "RiverSwim, 8 states": (lambda seed: RiverSwim(8, 30), 400),
    "Chain": (lambda seed: Chain(), 400),
    "Chain, 8 links": (lambda seed: Chain(8, 0.1, 30), 400),
    "GridWorld, 4 × 4": (lambda seed: GridWorld(4, walls=((1, 1),), goal=(3, 3), horizon=15), 400),
    "DeepSea, depth 7": (lambda seed: DeepSea(7), 300),
    "DeepSea, depth 6, shuffled": (lambda seed: shuffled(DeepSea(6), seed), 300),
    "DeepSea, depth 8, shuffled, bait": (lambda seed: bait(shuffled(DeepSea(8), seed), 0.1), 400),
    "random": (lambda seed: RandomMDP(10, 3, seed=seed, concentration=0.1, horizon=20), 400),
    "random, sparse": (sparse, 400),
}
NAMED: dict[str, tuple[World, int]] = {
    "RiverSwim": (lambda seed: RiverSwim(), 1000),
    "GridWorld": (lambda seed: GridWorld(), 1000),
    "DeepSea": (lambda seed: DeepSea(), 300),
    "DeepSea, shuffled": (lambda seed: shuffled(DeepSea(), seed), 300),
}
OTHERS: dict[str, tuple[World, int]] = {
    "GridWorld, bait": (lambda seed: bait(GridWorld(), 0.2), 4000),
    "PBall2D": (lambda seed: gymnasium.make("cmerl/PBall2D-v0"), 100),
}
WORLDS = CHOSEN | NAMED | OTHERS
GROUPS = {"chosen": list(CHOSEN), "named": list(NAMED)}


def simulate(worlds: list[gymnasium.Env], episodes: int, root: int, scales: np.ndarray | None) -> np.ndarray:
    """Regret (T, runs), one run a world, under fixed scales (one a run), or balanced where they are None."""
    runs = of_worlds(worlds, lam=0.1, seed=root)
    size, mode, H = len(worlds), Balanced(), runs.H
    states = [balance(mode, None, span=H, delta=0.1)] * size
    regret = np.empty((episodes, size))
    candidates = np.array([c.mode.prior_scale for c in mode.candidates])
    for t in range(episodes):
        prior = scales
        if scales is None:
            turns = [state.turn() for state in states]
            prior = candidates[turns]
            greedy, _, _ = runs.plan(lambda h, v: 0.0, known=False)
            promised = np.clip(greedy[:, 0, runs.start].max(axis=1), 0.0, H)
        var = runs.sigma**2
        _, best, _ = runs.plan(lambda h, v: 0.0, known=False, prior=prior)
        regret[t] = runs.regret(best)
        visited, actions, returns = runs.play(best)
        if scales is None:
            left, b = np.arange(H, 0, -1)[:, None], np.arange(size)
            excess = np.minimum(left, 2 * prior * left * var[b, visited, actions]).sum(axis=0)
            seen = zip(states, turns, returns, np.minimum(excess, H), promised, strict=True)
            states = [
                state.after(turn, float(ret), float(x), float(value) if turn else None)
                for state, turn, ret, x, value in seen
            ]
    dropped = sum(not all(state.active()) for state in states)
    if dropped:
        print(f"{dropped} of {size} runs ended with a candidate dropped")
    return regret


def play(name: str, bonus: object, seed: int, episodes: int) -> np.ndarray:
    """Regret of each episode of an agent."""
    with threadpool_limits(1):
        agent = cmerl.CMERL(WORLDS[name][0](seed), seed=seed, bonus=bonus, replan=False).learn(episodes)
        return np.array([record.regret for record in agent.history])


def measure(name: str, episodes: int, seeds: int, root: int, jobs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Regret under fixed scales (T, scales, seeds), balanced (T, seeds), and V* (seeds,)."""
    worlds = [WORLDS[name][0](seed) for seed in range(seeds)]
    H = worlds[0].unwrapped.horizon
    best = np.array([cmerl.oracles.solve(env, H).value(env.reset(seed=0)[0]) for env in worlds])
    if isinstance(cmerl.oracles.known_model(worlds[0]), cmerl.oracles.FiniteModel):
        fixed = simulate(worlds * len(SCALES), episodes, root, np.repeat(SCALES, seeds))
        return fixed.reshape(episodes, len(SCALES), seeds), simulate(worlds, episodes, root, None), best
    bonuses = [*(Practical(prior_scale=c) for c in SCALES), "auto"]
    tasks = [(name, bonus, root + seed, episodes) for bonus in bonuses for seed in range(seeds)]
    found = np.array(Parallel(n_jobs=jobs)(delayed(play)(*task) for task in tasks)).reshape(len(bonuses), seeds, -1)
    return found[:-1].transpose(2, 0, 1), found[-1].T, best


def main() -> None:
    parser = argparse.ArgumentParser(description="regret balancing against fixed scales")
    parser.add_argument("--worlds", nargs="+", choices=(*GROUPS, *WORLDS), default=["named"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--root", type=int, default=0, help="seed of the simulations, or the first seed of the agents"
    )
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print(f"| world | T | V* | {' | '.join(f'{c:g}' for c in SCALES)} | balanced | worst | ratio | stuck | seconds |")
    print("|---" * (len(SCALES) + 8) + "|")
    for name in [name for given in options.worlds for name in GROUPS.get(given, [given])]:
        began, T = time.perf_counter(), options.episodes or WORLDS[name][1]
        fixed, balanced, best = measure(name, T, options.seeds, options.root, options.jobs)
        late = slice(-max(T // 10, 1), None)
        means, total = fixed.sum(axis=0).mean(axis=1), balanced.sum(axis=0)
        stuck = (fixed[late].mean(axis=0) > 0.2 * best).sum(axis=1)
        cells = [f"{m:.1f}" + (f" ({s} stuck)" if s else "") for m, s in zip(means, stuck, strict=True)]
        print(
            f"| {name} | {T} | {best.mean():.2f} | {' | '.join(cells)} | {total.mean():.1f} | {total.max():.1f} "
            f"| {total.mean() / means.min():.2f} | {(balanced[late].mean(axis=0) > 0.2 * best).sum()} "
            f"of {options.seeds} | {time.perf_counter() - began:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
