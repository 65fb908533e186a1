"""How often does the event that each provable mode rests on fail, on random finite MDPs with adaptive policies?

    python benchmarks/coverage.py --worlds 400 --episodes 100

Every run has a world of its own, plays with the bonuses of its mode and automatic constants, and is checked against
the true law at every episode; it fails if any episode did. The last column divides what the event allows by 10, to
show that failures would be seen. Half of δ belongs to the transitions. Simulated by benchmarks/tabular.py.
"""

from __future__ import annotations

import argparse
import math

from cmerl.envs import random_mdp
from provable import MODES, ProvableRuns
from tabular import of_worlds

DELTAS = (0.5, 0.1, 0.05)
SHRINK = 10.0


def coverage(mode: str, delta: float, worlds: int, episodes: int, shrink: float = 1.0) -> ProvableRuns:
    """Runs on as many random worlds with 4 states, 2 actions and 5 steps, λ = 0.1."""
    made = [random_mdp(4, 2, seed=i, concentration=0.4, horizon=5) for i in range(worlds)]
    runs = ProvableRuns(mode, of_worlds(made, lam=0.1, seed=0), delta, shrink)
    for _ in range(episodes):
        runs.step()
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of the provable modes")
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--episodes", type=int, default=100)
    options = parser.parse_args()
    n = options.worlds
    print(f"{n} random MDPs, {options.episodes} episodes of 5 steps; shares of runs that ever failed\n")
    print("| mode | δ | event failed | 95 % at most | not optimistic | bound broken | event failed with β/10 |")
    print("|---|---|---|---|---|---|---|")
    for mode in MODES:
        for delta in DELTAS:
            runs = coverage(mode, delta, n, options.episodes)
            shrunk = coverage(mode, delta, n, options.episodes, SHRINK)
            failed = runs.left_set.mean()
            upper = 1 - 0.05 ** (1 / n) if failed == 0 else failed + 1.645 * math.sqrt(failed * (1 - failed) / n)
            print(
                f"| {mode} | {delta} | {failed:.4f} | {upper:.4f} | {runs.not_optimistic.mean():.4f} "
                f"| {runs.bound_broken.mean():.4f} | {shrunk.left_set.mean():.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
