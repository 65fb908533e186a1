"""Regret of the compressed backend: against the exact one on the same seeds, and on PBall2D over 300 episodes.

python benchmarks/compressed_regret.py pairs     RiverSwim-6, GridWorld-5x5 and PBall2D, 60 episodes, ratio of means
python benchmarks/compressed_regret.py pball     PBall2D, 300 episodes, also with the reward elsewhere
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import gymnasium
import numpy as np
import scipy.spatial.distance  # noqa: F401 - loaded once a program, which is no cost of an episode
from joblib import Parallel, delayed

from cmerl import oracles
from cmerl.agents import CMERL
from cmerl.experiments.statistics import bootstrap_interval
from cmerl.kernels import RBF, Delta, StateAction

WORLDS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "RiverSwim-6": ("cmerl/RiverSwim-v0", {}, {}),
    "GridWorld-5x5, RBF": (
        "cmerl/GridWorld-v0",
        {"coordinates": True},
        {"kernel": StateAction(RBF(0.2), Delta())},
    ),
    "PBall2D": ("cmerl/PBall2D-v0", {}, {}),
}


class TimedCMERL(CMERL):
    """CME-RL that adds up, for each episode, the processor time of updates and plans, without acting and stepping."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.planning_seconds: dict[int, float] = defaultdict(float)
        super().__init__(*arguments, **options)

    def policy(self, explore: bool = True) -> Any:
        """The plan of the next episode, made while the clock runs."""
        with self._clock():
            return super().policy(explore)

    def _replanned(self, step: int) -> Any:
        with self._clock():
            return super()._replanned(step)

    def _end_episode(self) -> None:
        with self._clock():
            super()._end_episode()

    @contextlib.contextmanager
    def _clock(self) -> Iterator[None]:
        start = time.process_time()
        yield
        self.planning_seconds[len(self.history)] += time.process_time() - start


def learn(name: str, world: dict[str, Any], options: dict[str, Any], seed: int, episodes: int) -> TimedCMERL:
    return TimedCMERL(gymnasium.make(name, **world), seed=seed, **options).learn(episodes)


def regrets(agent: CMERL) -> np.ndarray:
    return np.array([record.regret for record in agent.history])


def difference_of_q(exact: CMERL) -> float:
    """Largest difference of Q, in per cent of H, when a compressed agent learns the exact one's data."""
    twin = type(exact)(exact.env, seed=exact.seed, backend="compressed", kernel=exact.kernel)
    for steps, batch in exact.model.batches or []:
        twin.model.update(steps, batch)
    Z = np.unique(np.concatenate([batch.Z for _, batch in exact.model.batches or []]), axis=0)
    states = Z[:: max(len(Z) // 500, 1), :-1]
    gaps = [
        np.abs(exact.planner.plan().q(states, h) - twin.planner.plan().q(states, h)).max()
        for h in (0, exact.horizon // 2)
    ]
    return 100 * max(gaps) / exact.horizon


def pair(name: str, world: dict[str, Any], options: dict[str, Any], seed: int, episodes: int) -> tuple[float, ...]:
    compressed = learn(name, world, {**options, "backend": "compressed"}, seed, episodes)
    exact = learn(name, world, {**options, "backend": "exact"}, seed, episodes)
    return regrets(compressed).sum(), regrets(exact).sum(), difference_of_q(exact)


def pball_run(centre: tuple[float, float], seed: int, episodes: int, repeats: int) -> tuple[float, ...]:
    """Regret, that of the last tenth of the episodes, milliseconds of update and plan an episode, and V*.

    The same run again does the same work, so of an episode's times the least counts.
    """
    world = {"centre": centre}
    agents = [learn("cmerl/PBall2D-v0", world, {"backend": "compressed"}, seed, episodes) for _ in range(repeats)]
    agent = agents[0]
    lost, optimum = regrets(agent), oracles.solve(agent.env, agent.horizon).value((0.0, 0.0))
    assert all(np.array_equal(regrets(other), lost) for other in agents)
    least = [min(other.planning_seconds[t] for other in agents) for t in agent.planning_seconds]
    return lost.sum(), lost[-episodes // 10 :].mean(), 1e3 * sum(least) / episodes, optimum


def pairs(seeds: list[int], episodes: int, jobs: int) -> None:
    print(
        f"{'world':20s} {'compressed':>11s} {'exact':>8s} {'ratio':>6s} {'95 % interval':>16s} {'Q differs by':>13s}"
    )
    for label, (name, world, options) in WORLDS.items():
        rows = Parallel(n_jobs=jobs)(delayed(pair)(name, world, options, s, episodes) for s in seeds)
        a, b, gap = np.array(rows).T
        rng = np.random.default_rng(0)
        draws = rng.integers(len(a), size=(5000, len(a)))
        low, high = np.quantile(a[draws].mean(axis=1) / b[draws].mean(axis=1), [0.025, 0.975])
        print(
            f"{label:20s} {a.mean():11.1f} {b.mean():8.1f} {a.mean() / b.mean():6.2f} {low:8.2f} – {high:.2f} "
            f"{gap.max():9.2f} % H",
            flush=True,
        )


CENTRES = ((0.75, 0.0), (0.0, -0.6), (-0.5, 0.5), (-0.3, 0.5))


def pball(seeds: list[int], episodes: int, jobs: int, repeats: int) -> None:
    print("centre            V*   regret     95 % interval   worst  stuck   processor ms an episode (update + plan)")
    for centre in CENTRES:
        rows = Parallel(n_jobs=jobs)(delayed(pball_run)(centre, seed, episodes, repeats) for seed in seeds)
        lost, last, ms, optimum = np.array(rows).T
        low, high = bootstrap_interval(lost, seed=0)
        stuck = int(np.sum(last > 0.2 * optimum))
        print(
            f"{centre!s:13s} {optimum[0]:6.2f} {lost.mean():8.1f} {low:10.0f} – {high:5.0f} {lost.max():7.0f} "
            f"{stuck:3d}/{len(seeds)} {ms.mean():12.1f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pairs", "pball"])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--jobs", type=int, default=2, help="processes; times are truest with one")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each seed of pball, for truer times")
    options = parser.parse_args()
    chosen = list(range(options.first_seed, options.first_seed + options.seeds))
    if options.what == "pairs":
        pairs(chosen, options.episodes or 60, options.jobs)
    else:
        pball(chosen, options.episodes or 300, options.jobs, options.repeats)
