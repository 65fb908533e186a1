"""Do the provable modes learn? RiverSwim with 5 states, H = 10, known reward, automatic constants.

    python benchmarks/provable.py --episodes 4000 --seeds 20

For each mode it prints the exponent of a power law fitted to cumulative regret between T/10 and T, with a 95 %
bootstrap interval over seeds, and in how many runs optimism, the confidence set or the bound on regret ever failed.
Runs are simulated by benchmarks/tabular.py, many at a time.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from cmerl.confidence import (
    mixture_radius,
    noise_radius,
    paper_radius,
    scalar_radius,
    second_moment_radius,
    tight_radius,
)
from cmerl.envs import RiverSwim
from tabular import Runs, of_worlds

D = math.sqrt(2.0)  # of a delta kernel
MODES = ("paper", "tight", "split", "nonnegative")


class ProvableRuns:
    """Runs under one mode with automatic constants, each inequality checked at every episode.

    Args:
        shrink: divides what the event of the proof allows, to see it fail.
    """

    def __init__(self, mode: str, runs: Runs, delta: float, shrink: float = 1.0) -> None:
        self.mode, self.runs, self.share, self.shrink = mode, runs, delta / 2, shrink
        self.left_set = np.zeros(runs.size, bool)
        self.not_optimistic = np.zeros(runs.size, bool)
        self.bound_broken = np.zeros(runs.size, bool)
        self.excess, self.lost, self.bound = (np.zeros(runs.size) for _ in range(3))
        self.episode = 0

    def step(self) -> np.ndarray:
        """One episode: its regret (B,)."""
        runs, (_, S, _), H, lam = self.runs, self.runs.R.shape, self.runs.H, self.runs.lam
        self.episode += 1
        root, sigma = math.sqrt(lam), runs.sigma
        self._radii()

        def bonus(h: int, v: np.ndarray) -> np.ndarray:
            left = H - 1 - h
            if self.mode == "paper":
                return H * math.sqrt(S) * self.radius[:, None, None] * sigma / root
            if left == 0:
                return np.zeros_like(sigma)
            if self.mode == "tight":
                return left * math.sqrt(S) * self.radius[:, None, None] * sigma / root
            if self.mode == "split":
                centred = np.linalg.norm(v - v.mean(axis=1, keepdims=True), axis=1)
                return left * sigma**2 + (centred * self.radius)[:, None, None] / root * sigma
            return left * (sigma**2 + self.radius[:, None, None] * sigma / root)

        Q, best, bonuses = runs.plan(bonus, known=True, letter=self.mode == "paper")
        self.not_optimistic |= (runs.Q_star - 1e-9 > Q).any(axis=(1, 2, 3))
        self.left_set |= ~self.held()
        regret = runs.regret(best)
        excess = 2 * bonuses
        if self.mode == "nonnegative":
            left = np.arange(H - 1, -1, -1)[:, None, None]
            excess += 0.5 * left * math.sqrt(S) * self.rest[:, None, None, None] / root * sigma[:, None]
        states, actions, _ = runs.play(best)
        caps = np.full(H + 1, H) if self.mode == "paper" else np.arange(H, -1, -1)
        for h in range(H):
            self.excess += np.minimum(caps[h], excess[np.arange(runs.size), h, states[h], actions[h]])
        variance = float(sum((cap / 2) ** 2 for cap in caps[1:H]))
        share = self.share / 2 if self.mode == "nonnegative" else self.share
        luck = mixture_radius(self.episode * variance, start=10 * variance, delta=share)
        self.bound = np.minimum(H * self.episode, self.excess + luck)
        self.lost += regret
        self.bound_broken |= self.lost > self.bound + 1e-9
        return regret

    def _radii(self) -> None:
        runs, (_, S, A), H, lam, share = self.runs, self.runs.R.shape, self.runs.H, self.runs.lam, self.share
        B_P = math.sqrt(S * A)
        self.rest = np.array([noise_radius(x, D=D, delta=share / 2) for x in runs.sum_r])
        if self.mode == "paper":
            options = {"lam": lam, "B_P": B_P, "episode": self.episode, "horizon": H, "delta": share}
            self.radius = np.array([paper_radius(g, **options) for g in runs.gain])
        elif self.mode == "tight":
            self.radius = np.array([tight_radius(x, lam=lam, B_P=B_P, D=D, delta=share) for x in runs.sum_r])
        elif self.mode == "split":
            pairs = zip(runs.gain, runs.sum_r, strict=True)
            self.radius = np.array([second_moment_radius(g, x, D=D, delta=share) for g, x in pairs])
        else:
            self.radius = np.array([scalar_radius(g, span=1.0, delta=share / H) for g in runs.gain])

    def held(self) -> np.ndarray:
        """Whether the event that the proof rests on held (B,)."""
        runs, lam, allowed = self.runs, self.runs.lam, self.radius / self.shrink
        seen = (runs.visits + lam)[..., None]
        if self.mode in ("paper", "tight"):
            error = np.sqrt(seen) * (runs.P - runs.after / seen)
            rows = error.reshape(runs.size, -1, error.shape[-1])
            norm = np.linalg.norm(rows, 2, axis=(1, 2)) if self.mode == "paper" else np.linalg.norm(rows, axis=(1, 2))
            return norm <= allowed
        surplus = runs.after - runs.visits[..., None] * runs.P
        if self.mode == "split":
            return np.sqrt((surplus**2 / seen).sum(axis=(1, 2, 3))) <= allowed
        left = np.arange(runs.H - 1, 0, -1)
        of_values = np.einsum("bsat,bht->bsah", surplus, runs.V_star[:, 1 : runs.H])
        return (np.sqrt((of_values**2 / seen).sum(axis=(1, 2))) <= left * allowed[:, None]).all(axis=1)


def exponent(regret: np.ndarray) -> float:
    """Slope of log cumulative regret, averaged over seeds, against log t in the last nine tenths."""
    T = len(regret)
    t = np.unique(np.geomspace(T / 10, T, 40).astype(int))
    total = np.cumsum(regret.mean(axis=1))[t - 1]
    return float(np.polyfit(np.log(t), np.log(np.maximum(total, 1e-12)), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="regret exponents of the provable modes")
    parser.add_argument("--episodes", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--horizon", type=int, default=10)
    parser.add_argument("--modes", default=",".join(MODES))
    options = parser.parse_args()
    T, B = options.episodes, options.seeds
    print("| mode | regret | V*·T | bound | exponent | 95 % | Q* > Q | left the set | bound broken | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    for mode in options.modes.split(","):
        began = time.perf_counter()
        runs = of_worlds([RiverSwim(options.states, options.horizon)] * B, lam=1.0, seed=0)
        proof = ProvableRuns(mode, runs, delta=0.1)
        regret = np.array([proof.step() for _ in range(T)])
        low, high = np.quantile([exponent(regret[:, rng.integers(B, size=B)]) for _ in range(400)], [0.025, 0.975])
        print(
            f"| {mode} | {regret.sum(axis=0).mean():.0f} | {T * runs.V_star[0, 0, runs.start]:.0f} "
            f"| {proof.bound.mean():.0f} | {exponent(regret):.3f} | {low:.3f} – {high:.3f} "
            f"| {proof.not_optimistic.sum()} | {proof.left_set.sum()} | {proof.bound_broken.sum()} "
            f"| {time.perf_counter() - began:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
