"""How far episodes of Pendulum-v1 fall short of the optimum from where they began.

    python benchmarks/pendulum_optimum.py --first-seed 620 --seeds 5

Pendulum-v1 begins anywhere, so returns of a few episodes say more of their starts than of the agent: the optimum from
the starts of five episodes lies between −90 and −180 on average. The optimum is computed by dynamic programming on a
grid of angles and speeds with the true equations, and played from each start. The runs are those of control.py,
beside those of the first version on its own seeds.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np
from numpy.typing import NDArray

import cmerl
from control import FIRST, RESULTS, read

Array = NDArray[np.float64]

TASK, HORIZON, COUNTED = "Pendulum-v1", 200, slice(15, 20)
TURN, FASTEST, STEP = 2.0 * np.pi, 8.0, 0.05
TORQUES = np.linspace(-2.0, 2.0, 21)


def move(angle: Array, speed: Array, torque: Array | float) -> tuple[Array, Array, Array]:
    """The next angle and speed, and the reward (Gymnasium's equations)."""
    cost = ((angle + np.pi) % TURN - np.pi) ** 2 + 0.1 * speed**2 + 0.001 * np.square(torque)
    faster = np.clip(speed + (15.0 * np.sin(angle) + 3.0 * torque) * STEP, -FASTEST, FASTEST)
    return angle + faster * STEP, faster, -cost


class Corners(NamedTuple):
    """Where states lie in a grid that is closed in the angle, for bilinear interpolation."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    over: Array
    up: Array

    @classmethod
    def of(cls, angle: Array, speed: Array, size: int) -> Corners:
        a, b = (angle % TURN) / TURN * size, (speed + FASTEST) / (2.0 * FASTEST) * (size - 1)
        i, j = np.floor(a).astype(np.intp), np.clip(np.floor(b).astype(np.intp), 0, size - 2)
        return cls(i % size, j, a - i, b - j)

    def value(self, V: Array) -> Array:
        i, j, over, up = self
        after = (i + 1) % len(V)
        low, high = ((1.0 - up) * V[k, j] + up * V[k, j + 1] for k in (i, after))
        return (1.0 - over) * low + over * high


def values(size: int) -> list[Array]:
    """V at every step, on a grid of so many angles and speeds."""
    grid = np.meshgrid(np.arange(size) / size * TURN, np.linspace(-FASTEST, FASTEST, size), indexing="ij")
    moves = [move(*grid, torque) for torque in TORQUES]
    corners = [(Corners.of(angle, speed, size), reward) for angle, speed, reward in moves]
    V = [np.zeros((size, size))]
    for _ in range(HORIZON):
        V.append(np.max([reward + at.value(V[-1]) for at, reward in corners], axis=0))
    return V[::-1]


def optimum(starts: Array, V: list[Array]) -> Array:
    """Returns (n,) of the optimal policy from angles and speeds (n, 2), played with the true equations."""
    angle, speed = starts.T
    total = np.zeros(len(starts))
    for later in V[1:]:
        tried = [move(angle, speed, torque) for torque in TORQUES]
        q = [reward + Corners.of(*state, len(later)).value(later) for *state, reward in tried]
        best = np.argmax(q, axis=0)
        angle, speed, reward = (np.choose(best, part) for part in zip(*tried, strict=True))
        total += reward
    return total


class Starts(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Remembers where episodes begin."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make(TASK))
        self.seen: list[Array] = []

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        found = self.env.reset(**options)
        self.seen.append(np.array(self.env.unwrapped.state))
        return found


def starts(seed: int) -> Array:
    """Where the episodes of a seed begin (20, 2): the same for every agent."""
    env = Starts()
    cmerl.agents.make("random", env, seed=seed).learn(20)
    return np.array(env.seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=620)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of runs")
    parser.add_argument("--size", type=int, default=241, help="angles, and speeds, of the grid")
    options = parser.parse_args()
    V = values(options.size)
    asked = range(options.first_seed, options.first_seed + options.seeds)
    for name, path, seeds in (("cmerl", options.results, asked), ("first version", FIRST, None)):
        short = []
        for run in read(path):
            if run["task"] != TASK or (seeds is not None and run["seed"] not in seeds):
                continue
            best = optimum(starts(run["seed"])[COUNTED], V)
            short.append(best.mean() - np.mean(run["returns"][COUNTED]))
            print(
                f"{name}, seed {run['seed']}: optimum {best.mean():.1f}, short of it by {short[-1]:.1f}", flush=True
            )
        if short:
            middle, mean, worst = np.median(short), np.mean(short), max(short)
            print(f"{name}: short by {middle:.1f} (median), {mean:.1f} (mean), {worst:.1f} (worst)")


if __name__ == "__main__":
    main()
