"""Classic control from scratch with the default agent: returns, medians, worst seeds, seconds.

All tasks and seeds 100 to 109 by default; ``--task CartPole-v1 --seeds 3`` is quicker.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import gymnasium
import numpy as np

import cmerl
from cmerl.wrappers import GoalReward


@dataclass(frozen=True)
class Task:
    """An environment, how long to learn in it, and the episodes whose mean return is reported."""

    name: str
    make: Callable[[], gymnasium.Env]
    episodes: int
    window: slice


class NoisyTorque(gymnasium.ActionWrapper):
    """Gaussian noise on every action, drawn from the seed of the episode."""

    def reset(self, *, seed=None, options=None):
        """Start the noise anew."""
        self._noise = np.random.default_rng(seed)
        return super().reset(seed=seed, options=options)

    def action(self, action):
        """The action with noise, within bounds."""
        box = self.action_space
        return np.clip(action + self._noise.normal(0.0, 0.5, box.shape), box.low, box.high).astype(box.dtype)


def limited(name: str, steps: int) -> Callable[[], gymnasium.Env]:
    return lambda: gymnasium.make(name, max_episode_steps=steps)


TASKS = [
    Task("MountainCar-v0", limited("MountainCar-v0", 200), 20, slice(10, 20)),
    Task("MountainCar-v0, goal only", lambda: GoalReward(gymnasium.make("MountainCar-v0")), 60, slice(3, 60)),
    Task("CartPole-v1", limited("CartPole-v1", 200), 20, slice(15, 20)),
    Task("Pendulum-v1", limited("Pendulum-v1", 200), 20, slice(15, 20)),
    Task("Pendulum-v1, noise", lambda: NoisyTorque(gymnasium.make("Pendulum-v1")), 20, slice(15, 20)),
    Task("Acrobot-v1", limited("Acrobot-v1", 500), 20, slice(15, 20)),
    Task("MountainCarContinuous-v0", limited("MountainCarContinuous-v0", 200), 20, slice(15, 20)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", help="only tasks whose name starts so")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=100)
    options = parser.parse_args()
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    print(f"{'task':<28}{'median':>9}{'worst':>9}{'first end by':>14}{'s/episode':>11}{'late':>7}  model")
    for task in TASKS:
        if options.task and not task.name.startswith(options.task):
            continue
        scores, firsts, seconds, late, models = [], [], [], [], set()
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            env = task.make()
            started = time.process_time()
            agent = cmerl.CMERL(env, seed=seed).learn(task.episodes)
            seconds.append((time.process_time() - started) / task.episodes)
            returns = np.array([record.ret for record in agent.history])
            scores.append(float(returns[task.window].mean()))
            ends = [r.episode + 1 for r in agent.history if r.length < agent.horizon]
            firsts.append(ends[0] if ends else np.inf)
            late.append(np.mean([r.seconds for r in agent.history[-3:]]))
            models.add(agent.diagnostics()["backend"])
        print(
            f"{task.name:<28}{np.median(scores):>9.1f}{min(scores):>9.1f}{max(firsts):>14}{np.mean(seconds):>11.2f}"
            f"{np.mean(late):>7.2f}  {', '.join(sorted(models))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
