"""What each rule of the default agent is worth: the default against that rule switched off, on the same seeds.

    python benchmarks/ablation.py                                   # every rule on its tasks, then the table
    python benchmarks/ablation.py --rule "no search" --seeds 5
    python benchmarks/ablation.py --table                           # only what benchmarks/results/ablation.json holds

A row gives, for each task, the mean paired difference (rule off minus default) with its standard error; what is worse
without the rule is marked. Scores are mean returns of a task's last episodes, or minus its cumulative regret.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl.acting import MPC, Greedy, Refined
from cmerl.acting.icem import Search
from cmerl.acting.terminal_value import TerminalSettings
from cmerl.agents import Settings
from cmerl.optimism import PrizeCeiling, RangeCeiling
from cmerl.wrappers import GoalReward

RESULTS = Path(__file__).parent / "results" / "ablation.json"
DEFAULT = Settings()


@dataclass(frozen=True)
class Task:
    """An environment, the episodes to learn for, and the last ones that count; 0 counts all regret."""

    make: Callable[[], gymnasium.Env[Any, Any]]
    episodes: int
    last: int = 0


def world(name: str) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: gymnasium.make(f"cmerl/{name}-v0")


def limited(name: str, steps: int) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: gymnasium.make(name, max_episode_steps=steps)


TASKS = {
    "RiverSwim": Task(world("RiverSwim"), 200),
    "GridWorld": Task(world("GridWorld"), 200),
    "PBall2D": Task(world("PBall2D"), 60),
    "FrozenLake": Task(limited("FrozenLake-v1", 100), 150, 100),
    "MountainCar": Task(limited("MountainCar-v0", 200), 10, 6),
    "CartPole": Task(limited("CartPole-v1", 200), 12, 5),
    "Pendulum": Task(limited("Pendulum-v1", 200), 10, 4),
    "Acrobot": Task(limited("Acrobot-v1", 500), 8, 4),
    "goal only": Task(lambda: GoalReward(gymnasium.make("MountainCar-v0")), 12, 8),
    "SwingUp": Task(world("CartPoleSwingUp"), 16, 4),
    "PETS": Task(world("PetsCartPole"), 8, 3),
    "LQ": Task(world("LinearQuadratic"), 12, 6),
}
SMOOTH = ("MountainCar", "CartPole", "Pendulum")
CONTROL = ("PETS", "SwingUp", "Pendulum", "CartPole")
DIRECT = ("RiverSwim", "GridWorld", "PBall2D")


def settings(**changes: Any) -> dict[str, Any]:
    """Options of an agent with some settings changed; ``part__field`` names a nested one."""
    made = DEFAULT
    for name, value in changes.items():
        part, _, field = name.partition("__")
        made = replace(made, **{part: replace(getattr(made, part), **{field: value}) if field else value})
    return {"settings": made}


def search(**changes: Any) -> dict[str, Any]:
    """Options of an agent whose searches differ."""
    return settings(selection__search=replace(DEFAULT.selection.search, **changes))


RULES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no displacement: direct embeddings only": ({"model": "direct"}, SMOOTH),
    "no direct embedding: displacements only": ({"model": "displacement"}, ("PBall2D", "MountainCar", "CartPole")),
    "no noise limit for displacements": (settings(selection__most_noise=np.inf), ("PBall2D", "Pendulum", "CartPole")),
    "errors that shrink count as noise": (settings(selection__shrinking=0.0), ("PBall2D", "PETS")),
    "no margin for displacements": (settings(selection__margin=1.0), ("PBall2D", "Pendulum", "CartPole")),
    "no action repeat": (settings(selection__repeats=(1,)), SMOOTH),
    "no search": ({"actor": Greedy()}, CONTROL),
    "search at every step": (search(every=1), CONTROL),
    "search with the plan's value": ({"actor": MPC(value="plan")}, CONTROL),
    "search with its own value, always": ({"actor": MPC(value="fitted")}, CONTROL),
    "search with white noise": (search(search=Search(colour=0.0)), CONTROL),
    "search with half the sequences": (search(search=Search(samples=16)), CONTROL),
    "terminal value without fear of ends": (search(terminal=TerminalSettings(fear=0.3)), ("CartPole",)),
    "terminal value without caution": (search(terminal=TerminalSettings(caution=0.0)), CONTROL),
    "terminal value without what was done": (search(terminal=TerminalSettings(own=0)), CONTROL),
    "no exploration account": (settings(exploration_rate=0.0), (*CONTROL, "MountainCar", "goal only")),
    "ten times the exploration": (settings(exploration_rate=1.0), (*CONTROL, "MountainCar", "goal only")),
    "no refinement of continuous actions": (settings(refined=Refined(rounds=0)), ("LQ", "Pendulum", "PBall2D")),
    "no replanning inside episodes": ({"replan": False}, (*DIRECT, "MountainCar")),
    "replanning at every nat": (settings(updates__replan_share=0.0), ("PBall2D", "MountainCar", "CartPole")),
    "nothing waits": (settings(updates__wait_nats=0.0), DIRECT),
    "ceiling of the range, not of what was seen": ({"optimism": RangeCeiling()}, SMOOTH),
    "one prize instead of three": (
        settings(prize=PrizeCeiling(prizes=1.0)),
        ("FrozenLake", "RiverSwim", "goal only"),
    ),
    "actions' own kernel as wide as the shared one": (
        settings(kernels__own_width=1.0),
        ("PBall2D", "goal only", "LQ"),
    ),
    "actions share next to nothing": (settings(kernels__shared=(0.01, 0.01)), ("PBall2D", "goal only", "LQ")),
    "kernels twice as wide": (settings(kernels__width=0.2), ("PBall2D", "goal only", "LQ")),
    "half the landmarks": (settings(displacement__landmarks=300), SMOOTH),
    "no landmarks ahead of the data": (settings(displacement__reach=1), SMOOTH),
    "rougher values": (settings(displacement__smoothness=2.0), SMOOTH),
    "half the centres": (settings(displacement__centres=125), SMOOTH),
    "no planning discount": (settings(selection__discount=False), SMOOTH),
}


def score(task: Task, seed: int, options: dict[str, Any]) -> float:
    """One run: the mean return of its last episodes, or minus its regret."""
    history = cmerl.CMERL(task.make(), seed=seed, **options).learn(task.episodes).history
    if task.last:
        return float(np.mean([record.ret for record in history[-task.last :]]))
    return -float(sum(record.regret or 0.0 for record in history))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", default="", help="only rules whose names start so")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=4000)
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    held: dict[str, float] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    rules = {name: rule for name, rule in RULES.items() if name.startswith(given.rule)}

    def found(name: str, options: dict[str, Any], task: str, seed: int) -> float | None:
        key = f"{name} | {task} | {seed}"
        if key not in held and not given.table:
            held[key] = score(TASKS[task], seed, options)
            RESULTS.write_text(json.dumps(held, indent=0, sort_keys=True) + "\n")
        return held.get(key)

    print("| rule switched off | " + " | ".join(f"task {i + 1}" for i in range(3)) + " |\n|---|---|---|---|")
    for name, (options, tasks) in rules.items():
        cells = []
        for task in tasks:
            pairs = [(found(name, options, task, s), found("default", {}, task, s)) for s in seeds]
            gaps = np.array([a - b for a, b in pairs if a is not None and b is not None])
            if len(gaps):
                error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
                worse = (
                    " worse"
                    if gaps.mean() < -max(error, 1e-9)
                    else " better"
                    if gaps.mean() > max(error, 1e-9)
                    else ""
                )
                cells.append(f"{task}: {gaps.mean():+.3g} ± {error:.2g}{worse}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
