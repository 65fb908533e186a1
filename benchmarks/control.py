"""The default agent from scratch, with nothing tuned: its returns on every task, a table and a picture of them.

    python benchmarks/control.py                            # seeds 100 to 109 of all tasks, then the table
    python benchmarks/control.py --task Pendulum --seeds 3  # only tasks whose names start so
    python benchmarks/control.py --table                    # only what benchmarks/results/control.json holds
    python benchmarks/control.py --picture                  # and docs/images/any-environment.png of it

Runs that the file holds are not repeated: ``--fresh`` drops those asked for first (all of them, without ``--task``),
and must be given whenever the agent has changed; each run names the commit that it was made with. ``--first-seed``
takes other seeds; table and picture are of the seeds asked for. ``--jobs 2`` plays two runs at a time.

The table has Stable-Baselines3 beside, from benchmarks/results/baselines.json (see baselines.py): its returns while
learning, over the same episodes. A median of "first goal" counts seeds that never got there as infinite.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np

import cmerl
from cmerl import oracles
from cmerl.wrappers import GoalReward
from control_report import Run, picture, score, table

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "control.json"
BASELINES = HERE / "results" / "baselines.json"
PICTURE = HERE.parent / "docs" / "images" / "any-environment.png"


@dataclass(frozen=True)
class Task:
    """An environment, how long to learn in it, and what counts.

    Attributes:
        name: for people, and in the file.
        make: makes the environment.
        episodes: to learn for.
        score: what is reported: the mean return of ``window``; the sum of regrets; or by how many per cent the
            policy without exploration falls short of V* at last, evaluated exactly.
        aim: what the score should be: at least for returns, at most for the others; None where there is no aim.
        window: the first and last episode, from 1 on, whose mean return is meant.
        goal: whether an early end is a success, whose first episode is reported.
        options: of the agent; none but what the task itself tells.
    """

    name: str
    make: Callable[[], gymnasium.Env]
    episodes: int
    score: Literal["return", "regret", "shortfall"]
    aim: float | None
    window: tuple[int, int] = (16, 20)
    goal: bool = False
    options: dict[str, Any] = field(default_factory=dict)


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


def goal_only() -> gymnasium.Env:
    return GoalReward(gymnasium.make("MountainCar-v0"))


def noisy_pendulum() -> gymnasium.Env:
    return NoisyTorque(gymnasium.make("Pendulum-v1"))


def world(name: str) -> Callable[[], gymnasium.Env]:
    return lambda: gymnasium.make(f"cmerl/{name}-v0")


UNIT = {"reward_range": (0, 1)}
TASKS = [
    Task("MountainCar-v0", limited("MountainCar-v0", 200), 20, "return", -125, (11, 20), goal=True),
    Task("MountainCar-v0, goal only", goal_only, 60, "return", 0.95, (4, 60), goal=True),
    Task("CartPole-v1", limited("CartPole-v1", 200), 20, "return", 195),
    Task("Pendulum-v1", limited("Pendulum-v1", 200), 20, "return", -170),
    Task("Pendulum-v1, noise", noisy_pendulum, 20, "return", None),
    Task("Acrobot-v1", limited("Acrobot-v1", 500), 20, "return", -100, goal=True),
    Task("MountainCarContinuous-v0", limited("MountainCarContinuous-v0", 200), 20, "return", None, goal=True),
    Task("PBall2D", world("PBall2D"), 300, "regret", 250),
    Task("TwoRooms", world("TwoRooms"), 100, "regret", None),
    Task("TwoRooms, bound given", world("TwoRooms"), 100, "regret", None, options={"reward_range": (0, 5)}),
    Task("CartPoleSwingUp", world("CartPoleSwingUp"), 30, "return", None, (26, 30)),
    Task("CartPoleSwingUp, bound given", world("CartPoleSwingUp"), 30, "return", None, (26, 30), options=UNIT),
    Task("FrozenLake-v1", limited("FrozenLake-v1", 100), 300, "shortfall", 5),
    Task("CliffWalking-v1", limited("CliffWalking-v1", 50), 300, "shortfall", 5),
]


def run(name: str, seed: int, commit: str) -> Run:
    """One seed of a task."""
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    task = next(task for task in TASKS if task.name == name)
    started = time.process_time()
    agent = cmerl.CMERL(task.make(), seed=seed, **task.options).learn(task.episodes)
    seconds = time.process_time() - started
    history = agent.history
    found = {
        "task": name,
        "seed": seed,
        "commit": commit,
        "model": str(agent.diagnostics()["backend"]),
        "seconds": round(seconds / task.episodes, 4),
        "late": round(float(np.mean([r.seconds for r in history[-3:]])), 4),
        "returns": [round(r.ret, 4) for r in history],
        "ends": [r.episode + 1 for r in history if r.length < agent.horizon],
    }
    if history[0].regret is not None:
        found["regret"] = round(sum(float(r.regret or 0.0) for r in history), 3)
    if task.score == "shortfall":
        found["shortfall"] = round(shortfall(agent), 4)
    return found


def shortfall(agent: cmerl.CMERL) -> float:
    """By how many per cent of V* the policy without exploration falls short of it, exactly."""
    model = oracles.finite_model(agent.env)
    assert model is not None
    best = model.start @ oracles.solve(model, agent.horizon).V[0]
    own = model.start @ oracles.evaluate(model, agent.policy(explore=False), agent.horizon).V[0]
    return float(100.0 * (best - own) / abs(best))


def read(path: Path) -> list[Run]:
    return json.loads(path.read_text()) if path.exists() else []


def write(runs: list[Run]) -> None:
    """All runs, one a line; the file is whole at any time."""
    RESULTS.parent.mkdir(exist_ok=True)
    text = ",\n".join(json.dumps(r) for r in sorted(runs, key=lambda r: (r["task"], r["seed"])))
    part = RESULTS.with_suffix(".part")
    part.write_text(f"[\n{text}\n]\n")
    os.replace(part, RESULTS)


def play(wanted: list[tuple[str, int]], runs: list[Run], jobs: int) -> None:
    """Run what is missing, and keep each as it comes."""
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
    commit = asked.stdout.strip()
    done = {(r["task"], r["seed"]) for r in runs}
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed(pool.submit(run, *pair, commit) for pair in wanted if pair not in done):
            found = future.result()
            runs.append(found)
            write(runs)
            task = next(task for task in TASKS if task.name == found["task"])
            about = f"{score(task, found):.2f}, {found['seconds']:.2f} s an episode"
            print(f"{task.name}, seed {found['seed']}: {about}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="", help="only tasks whose name starts so")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="drop the runs asked for and make them again")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--picture", action="store_true", help="run nothing, and draw the picture too")
    options = parser.parse_args()
    tasks = [task for task in TASKS if task.name.startswith(options.task)]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    wanted = [(task.name, seed) for task in tasks for seed in seeds]
    runs = read(RESULTS)
    if not (options.table or options.picture):
        if options.fresh:
            runs = [r for r in runs if options.task and (r["task"], r["seed"]) not in wanted]
        play(wanted, runs, options.jobs)
    runs = [r for r in runs if (r["task"], r["seed"]) in wanted]
    if options.picture:
        picture(tasks, runs, read(BASELINES), PICTURE)
    print(table(tasks, runs, read(BASELINES)))


if __name__ == "__main__":
    main()
