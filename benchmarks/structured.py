"""What a fitting kernel is worth on worlds of objects, and how long kernel matrices of objects take.

    python benchmarks/structured.py learning             # episodes to 90 % of the optimum, fitting kernel and delta
    python benchmarks/structured.py learning --worlds Molecule --seeds 4
    python benchmarks/structured.py speed                # 1000 strings of length 30 against the textbook double loop

An agent has reached 90 % of the optimum at the end of the first ten episodes in a row whose mean return is 0.9 V*. A
run that has not after ``--episodes`` is counted with that number, so that for the delta kernel the mean is a lower
bound, and the ratio of the fitting kernel to it an upper one. How kernels were chosen
is told in docs/how-to/own-kernel.md. Intervals are percentile bootstraps of means over seeds, 95 %.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from threadpoolctl import threadpool_limits

import cmerl
from cmerl.experiments.statistics import bootstrap_interval
from cmerl.kernels import (
    Delta,
    Gaussian,
    GlobalAlignment,
    Intersection,
    Kernel,
    Mallows,
    Mismatch,
    Spectrum,
    StateAction,
    WeightedDegree,
    WeisfeilerLehman,
)

WINDOW, SHARE = 10, 0.9
LETTERS = "ACGT"


@dataclass(frozen=True)
class Case:
    """A world, the kernel on its states that fits, and how long the delta kernel is given."""

    kernel: Kernel
    episodes: int


CASES = {
    "StringEdit": Case(WeightedDegree(1, normalized=False), 60),
    "Molecule": Case(Gaussian(WeisfeilerLehman(1, normalized=False), 2.0), 160),
    "Knapsack": Case(Gaussian(Intersection(normalized=False), 2.0), 120),
    "Routing": Case(Mallows(0.2), 50),
}


def reached(returns: Sequence[float], optimum: float) -> int | None:
    means = np.convolve(returns, np.full(WINDOW, 1.0 / WINDOW), "valid") if len(returns) >= WINDOW else np.empty(0)
    hits = np.flatnonzero(means >= SHARE * optimum)
    return int(hits[0]) + WINDOW if hits.size else None


def play(world: str, kernel: Kernel, seed: int, episodes: int) -> int | None:
    env = gymnasium.make(f"cmerl/{world}-v0")
    optimum = float(cmerl.oracles.solve(env, env.unwrapped.horizon).value(0))
    agent = cmerl.CMERL(env, seed=seed, kernel=StateAction(kernel, Delta()))
    while len(agent.history) < episodes:
        agent.learn(1)
        found = reached([record.ret for record in agent.history], optimum)
        if found is not None:
            return found
    return None


def learning(worlds: Sequence[str], seeds: range, episodes: int | None) -> None:
    print(f"{'world':<12}{'fitting kernel':>24}{'never':>7}{'delta, at least':>24}{'never':>7}{'ratio, at most':>24}")
    for world in worlds:
        case, counts, never = CASES[world], [], []
        limit = episodes or case.episodes
        for kernel in (case.kernel, Delta()):
            found = [play(world, kernel, seed, limit) for seed in seeds]
            print(f"  {world}, {kernel!r}: {found}", file=sys.stderr, flush=True)
            counts.append(np.array([limit if n is None else n for n in found], dtype=float))
            never.append(sum(n is None for n in found))
        row = [
            _interval(counts[0]),
            f"{never[0]}",
            _interval(counts[1]),
            f"{never[1]}",
            _interval(counts[0] / counts[1]),
        ]
        print(f"{world:<12}{row[0]:>24}{row[1]:>7}{row[2]:>24}{row[3]:>7}{row[4]:>24}", flush=True)


def _interval(values: np.ndarray) -> str:
    low, high = bootstrap_interval(values, seed=0)
    digits = 2 if values.max() <= 1.5 else 1
    return f"{values.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def textbook_spectrum(x: str, y: str) -> float:
    def counts(text: str) -> Counter[str]:
        return Counter(text[i : i + 3] for i in range(len(text) - 2))

    a, b = counts(x), counts(y)
    return sum(a[piece] * b[piece] for piece in a)


def textbook_mismatch(x: str, y: str) -> float:
    def near(a: str, b: str) -> int:
        # how many of 4³ words differ from both in at most one of 3 places, by the places in which they differ
        return (10, 4, 2, 0)[sum(p != q for p, q in zip(a, b, strict=True))]

    pieces = [[text[i : i + 3] for i in range(len(text) - 2)] for text in (x, y)]
    return sum(near(a, b) for a in pieces[0] for b in pieces[1])


def textbook_alignment(x: str, y: str, likeness: float = 0.5) -> float:
    M = [[0.0] * (len(y) + 1) for _ in range(len(x) + 1)]
    M[0][0] = 1.0
    for i, a in enumerate(x, start=1):
        for j, b in enumerate(y, start=1):
            kappa = 1.0 if a == b else likeness / (2.0 - likeness)
            M[i][j] = kappa * (M[i - 1][j - 1] + M[i - 1][j] + M[i][j - 1])
    return M[-1][-1]


def speed(strings: int, length: int, sample: int) -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(LETTERS), length)) for _ in range(strings)]
    pairs: list[tuple[Kernel, Callable[[str, str], float]]] = [
        (Spectrum(3), textbook_spectrum),
        (Mismatch(LETTERS, 3, 1), textbook_mismatch),
        (GlobalAlignment(0.5), textbook_alignment),
    ]
    print(f"{strings} × {strings} strings of length {length}, CPU seconds; the double loop from {sample} × {sample}")
    for kernel, textbook in pairs:
        begun = time.process_time()
        K = kernel(words)
        ours = time.process_time() - begun
        begun = time.process_time()
        raw = np.array([[textbook(x, y) for y in words[:sample]] for x in words[:sample]])
        loop = (time.process_time() - begun) * (strings / sample) ** 2
        own = np.sqrt(np.diag(raw))
        error = float(np.abs(raw / np.outer(own, own) - K[:sample, :sample]).max())
        name = type(kernel).__name__
        print(f"{name:<18}{ours:7.2f} s, double loop {loop:7.1f} s, {loop / ours:5.0f} times, error {error:.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["learning", "speed"])
    parser.add_argument("--worlds", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=200)
    parser.add_argument("--episodes", type=int, default=None, help="most episodes; by default the world's own")
    parser.add_argument("--strings", type=int, default=1000)
    parser.add_argument("--length", type=int, default=30)
    parser.add_argument("--sample", type=int, default=60)
    options: Any = parser.parse_args()
    with threadpool_limits(1):
        if options.what == "learning":
            seeds = range(options.first_seed, options.first_seed + options.seeds)
            learning(options.worlds, seeds, options.episodes)
        else:
            speed(options.strings, options.length, options.sample)


if __name__ == "__main__":
    main()
