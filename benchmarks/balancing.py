"""Balancing over scales from reckless to useless, against every fixed scale in hindsight.

    python benchmarks/balancing.py --seeds 10
    python benchmarks/balancing.py --worlds PBall2D --seeds 10 --episodes 100

Finite worlds are simulated by benchmarks/tabular.py with the balancing rule of the agent; "DeepSea, shuffled" is
DeepSea with its actions renumbered in every cell, so that no single action leads to the treasure. PBall2D is played
by the agent itself. A run is stuck if its last tenth of episodes loses more than a fifth of V* on average.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import cmerl
from cmerl.agents.balancing import balance
from cmerl.confidence import Auto, Practical
from cmerl.confidence.auto import SCALES
from cmerl.envs import FiniteMDP
from tabular import of_worlds

EPISODES = {
    "RiverSwim": 1000,
    "GridWorld": 1000,
    "DeepSea": 300,
    "DeepSea, shuffled": 300,
    "Chain": 500,
    "PBall2D": 100,
}


def world(name: str) -> gymnasium.Env:
    env = gymnasium.make(f"cmerl/{name.partition(',')[0]}-v0")
    if "shuffled" not in name:
        return env
    core, rng = env.unwrapped, np.random.default_rng(0)
    orders = np.array([rng.permutation(core.R.shape[1]) for _ in core.R])
    P = np.take_along_axis(core.P, orders[:, :, None], 1)
    return FiniteMDP(P, np.take_along_axis(core.R, orders, 1), horizon=core.horizon)


def simulate(name: str, episodes: int, seeds: int, scales: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Regret (T, runs) under fixed scales (one a run), or balanced where they are None; and V*."""
    size = seeds if scales is None else len(scales)
    runs = of_worlds([world(name)] * size, lam=0.1, seed=0)
    mode, H = Auto(), runs.H
    reports: list = [None] * size
    regret = np.empty((episodes, size))
    candidates = np.array([c.mode.prior_scale for c in mode.candidates])
    for t in range(episodes):
        prior = scales
        if scales is None:
            states = [balance(mode, report, span=H, delta=0.1) for report in reports]
            turns = [state.turn() for state in states]
            prior = candidates[turns]
        var = runs.sigma**2
        _, best, _ = runs.plan(lambda h, v: 0.0, known=False, prior=prior)
        regret[t] = runs.regret(best)
        visited, actions, returns = runs.play(best)
        if scales is None:
            left, b = np.arange(H, 0, -1)[:, None], np.arange(size)
            excess = np.minimum(left, 2 * prior * left * var[b, visited, actions]).sum(axis=0)
            for i, (state, turn) in enumerate(zip(states, turns, strict=True)):
                learners = list(state.learners)
                learners[turn] = learners[turn].played(float(returns[i]), min(float(excess[i]), H))
                after = type(state)(tuple(learners), state.span, state.width, state.floor, state.delta)
                reports[i] = after.report()
    return regret, float(runs.V_star[0, 0, runs.start])


def play(name: str, bonus: object, seed: int, episodes: int) -> np.ndarray:
    """Regret of each episode of an agent."""
    with threadpool_limits(1):
        agent = cmerl.CMERL(world(name), seed=seed, bonus=bonus, replan=False).learn(episodes)
        return np.array([record.regret for record in agent.history])


def measure(name: str, episodes: int, seeds: int, jobs: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Regret under fixed scales (T, scales, seeds), balanced (T, seeds), and V*."""
    if isinstance(cmerl.oracles.known_model(world(name)), cmerl.oracles.FiniteModel):
        fixed, best = simulate(name, episodes, seeds, np.repeat(SCALES, seeds))
        balanced, _ = simulate(name, episodes, seeds, None)
        return fixed.reshape(episodes, len(SCALES), seeds), balanced, best
    bonuses = [*(Practical(prior_scale=c) for c in SCALES), "auto"]
    tasks = [(name, bonus, seed, episodes) for bonus in bonuses for seed in range(seeds)]
    found = np.array(Parallel(n_jobs=jobs)(delayed(play)(*task) for task in tasks)).reshape(len(bonuses), seeds, -1)
    env = world(name)
    best = cmerl.oracles.solve(env, env.unwrapped.horizon).value(env.reset(seed=0)[0])
    return found[:-1].transpose(2, 0, 1), found[-1].T, float(best)


def main() -> None:
    parser = argparse.ArgumentParser(description="regret balancing against fixed scales")
    parser.add_argument("--worlds", nargs="+", choices=tuple(EPISODES), default=list(EPISODES)[:-1])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print(f"| world | T | V* | {' | '.join(f'{c:g}' for c in SCALES)} | balanced | worst | ratio | stuck | seconds |")
    print("|---" * (len(SCALES) + 8) + "|")
    for name in options.worlds:
        began, T = time.perf_counter(), options.episodes or EPISODES[name]
        fixed, balanced, best = measure(name, T, options.seeds, options.jobs)
        late = slice(-max(T // 10, 1), None)
        means, total = fixed.sum(axis=0).mean(axis=1), balanced.sum(axis=0)
        stuck = (fixed[late].mean(axis=0) > 0.2 * best).sum(axis=1)
        cells = [f"{m:.1f}" + (f" ({s} stuck)" if s else "") for m, s in zip(means, stuck, strict=True)]
        print(
            f"| {name} | {T} | {best:.2f} | {' | '.join(cells)} | {total.mean():.1f} | {total.max():.1f} "
            f"| {total.mean() / means.min():.2f} | {(balanced[late].mean(axis=0) > 0.2 * best).sum()} "
            f"of {options.seeds} | {time.perf_counter() - began:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
