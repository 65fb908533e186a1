"""What each rule of the default agent is worth: the default against that rule switched off, on the same seeds.

    python benchmarks/ablation.py                                   # every rule on its tasks, then the table
    python benchmarks/ablation.py --rule "no search" --seeds 5
    python benchmarks/ablation.py --jobs 2                          # two runs at a time
    python benchmarks/ablation.py --table                           # only what benchmarks/results/ablation.json holds

Runs in the results file are not repeated. Delete the file when the default has changed.

A row gives, for each task, the mean paired difference (rule off minus default) with its standard error, and the
processor time of a run without the rule over that of the default. What is worse or better without the rule beyond one
standard error is marked. Scores are mean returns of a task's last episodes, or minus its cumulative regret. Tasks are
short: a row shows what a rule is worth where data are few.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gymnasium
import numpy as np

import cmerl
from cmerl.acting import MPC, Greedy
from cmerl.agents import Settings
from cmerl.experiments.engines.local import end_with
from cmerl.optimism import RangeCeiling
from cmerl.wrappers import ActionNoise, GoalReward
from plants import FourTanks, SlowTank, SoftLanding, TurningPendulum, TwoLevers, Unicycle, WrappedPendulum

RESULTS = Path(__file__).parent / "results" / "ablation.json"
DEFAULT = Settings()


@dataclass(frozen=True)
class Task:
    """An environment, the episodes to learn for, and the last ones that count; 0 counts all regret."""

    make: Callable[[], gymnasium.Env[Any, Any]]
    episodes: int
    last: int = 0
    options: dict[str, Any] = field(default_factory=dict)


def world(name: str) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: gymnasium.make(f"cmerl/{name}-v0")


def limited(name: str, steps: int) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: gymnasium.make(name, max_episode_steps=steps)


class Flags(gymnasium.Env[Any, Any]):
    """Numbers next to flags, which are drawn for each episode; if told so, actions are reversed where two differ."""

    def __init__(self, env: gymnasium.Env[Any, Any], flags: int, *, reverse: bool = False) -> None:
        self._env, self._reverse, self.action_space = env, reverse, env.action_space
        self._flags = gymnasium.spaces.MultiBinary(flags)
        self.observation_space = gymnasium.spaces.Dict(place=env.observation_space, flags=self._flags)
        self.horizon = env.unwrapped.horizon  # type: ignore[attr-defined]

    def _seen(self, place: Any) -> dict[str, Any]:
        return {"place": place, "flags": self._now}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """New flags."""
        super().reset(seed=seed)
        place, info = self._env.reset(seed=seed, options=options)
        self._now = self.np_random.integers(0, 2, self._flags.n).astype(np.int8)
        return self._seen(place), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step of the environment inside."""
        if self._reverse and self._now[0] != self._now[1]:
            space = self.action_space
            discrete = isinstance(space, gymnasium.spaces.Discrete)
            action = (int(action) + int(space.n) // 2) % int(space.n) if discrete else -np.asarray(action)
        place, *rest = self._env.step(action)
        return self._seen(place), *rest


def flagged(name: str, flags: int, *, reverse: bool = False) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: Flags(world(name)(), flags, reverse=reverse)


TASKS = {
    "RiverSwim": Task(world("RiverSwim"), 200),
    "GridWorld": Task(world("GridWorld"), 120),
    "Chain": Task(world("Chain"), 120),
    "PBall2D": Task(world("PBall2D"), 40),
    "TwoRooms": Task(world("TwoRooms"), 12),
    "TwoRooms, long": Task(world("TwoRooms"), 60, 10),
    "FrozenLake": Task(limited("FrozenLake-v1", 100), 100, 70),
    "Battery": Task(world("Battery"), 20),
    "LQ": Task(world("LinearQuadratic"), 12, 6),
    "LQ, direct": Task(world("LinearQuadratic"), 12, 6, {"model": "direct"}),
    "Pendulum, direct": Task(limited("Pendulum-v1", 30), 15, 8, {"model": "direct"}),
    "inventory": Task(world("LeadTimeInventory"), 20, 10),
    "tanks and sensors": Task(FourTanks, 6, 3),
    "landing": Task(SoftLanding, 8, 4),
    "two levers": Task(TwoLevers, 15, 5),
    "slow tank": Task(SlowTank, 12, 4),
    "wrapped pendulum": Task(WrappedPendulum, 6, 3),
    "turning pendulum": Task(TurningPendulum, 6, 3),
    "unicycle": Task(Unicycle, 6, 3),
    "PBall2D, two flags": Task(flagged("PBall2D", 2, reverse=True), 40, 10),
    "TwoRooms, two flags": Task(flagged("TwoRooms", 2, reverse=True), 24, 8),
    "LQ, two flags": Task(flagged("LinearQuadratic", 2, reverse=True), 24, 6),
    "PBall2D, ten flags": Task(flagged("PBall2D", 10), 20, 10),
    "TwoRooms, ten flags": Task(flagged("TwoRooms", 10), 12, 8),
    "LQ, ten flags": Task(flagged("LinearQuadratic", 10), 12, 6),
    "MountainCar": Task(limited("MountainCar-v0", 200), 4, 3),
    "goal only": Task(lambda: GoalReward(gymnasium.make("MountainCar-v0")), 4, 3),
    "wind": Task(lambda: ActionNoise(limited("MountainCarContinuous-v0", 200)(), 0.5), 4, 2),
    "CartPole": Task(limited("CartPole-v1", 100), 3, 2),
    "Pendulum": Task(limited("Pendulum-v1", 60), 4, 3),
    "PILCO": Task(world("PilcoCartPole"), 4, 2),
    "PILCO, long": Task(world("PilcoCartPole"), 14, 6),
    "PETS": Task(world("PetsCartPole"), 6, 3),
    "swing-up": Task(world("CartPoleSwingUp"), 6, 2),
    "double pole": Task(lambda: gymnasium.make("InvertedDoublePendulum-v5"), 12, 4),
    "Reacher": Task(lambda: gymnasium.make("Reacher-v5"), 5, 3),
    "reacher-easy": Task(world("dmc-reacher-easy"), 8, 5),
}
SMOOTH = ("MountainCar", "Pendulum", "Reacher")
FINITE = ("RiverSwim", "GridWorld", "FrozenLake")
DIRECT = ("PBall2D", "TwoRooms", "LQ, direct")
TWO_FLAGS, TEN_FLAGS = (tuple(f"{name}, {n} flags" for name in ("PBall2D", "TwoRooms", "LQ")) for n in ("two", "ten"))


@dataclass(frozen=True)
class Rule:
    """A rule that is switched off.

    Attributes:
        tasks: where that is compared.
        settings: what they are then, by their names with dots.
        options: of the agent besides.
        about: further settings that the rule is made of.
    """

    tasks: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    about: tuple[str, ...] = ()

    @property
    def fields(self) -> set[str]:
        """The settings that this row is about."""
        return {*self.settings, *self.about}

    def given(self, task: Task) -> dict[str, Any]:
        """Options of the agent."""
        made = DEFAULT
        for name, value in self.settings.items():
            made = changed(made, name.split("."), value)
        return {**task.options, **self.options, "settings": made}


def changed(part: Any, path: list[str], value: Any) -> Any:
    """Nested settings with one of them changed."""
    first, *rest = path
    return replace(part, **{first: changed(getattr(part, first), rest, value) if rest else value})


ICEM, TERMINAL = "selection.search.search", "selection.search.terminal"
OUTLIERS = "displacement.outliers"
RULES: dict[str, Rule] = {
    "no displacement: direct embeddings only": Rule(SMOOTH, {"most_dimensions": 0}),
    "no direct embedding: displacements only": Rule(
        ("PBall2D", "Battery", "CartPole"), options={"model": "displacement"}
    ),
    "no margin for displacements": Rule(("PBall2D", "inventory", "Battery"), {"selection.margin": 1.0}),
    "all columns count where models are compared": Rule(
        ("PBall2D", "tanks and sensors", "CartPole"), {"selection.dependence": 0.0}
    ),
    "models compared on a third of the rows": Rule(
        ("PBall2D", "Battery", "CartPole"), {"selection.held_out": 100, "selection.residuals": 4}
    ),
    "displacements also where the best reward is attained": Rule(
        ("TwoRooms, long", "two levers", "slow tank"),
        {"selection.attained": np.inf},
        about=("selection.most_columns", "selection.room"),
    ),
    "angles are not found": Rule(("wrapped pendulum", "turning pendulum", "unicycle"), {"find_angles": False}),
    "no action repeat": Rule(SMOOTH, {"selection.repeats": (1,)}),
    "actors compared from few starts": Rule(SMOOTH, {"selection.starts": 2, "selection.search_starts": 1}),
    "simulations disturbed by one residual": Rule(SMOOTH, {"selection.near": 1}),
    "simulations half as long": Rule(SMOOTH, {"selection.simulated_steps": 50}),
    "costs of actions are rewards like any other": Rule(
        ("wind", "MountainCar", "Pendulum"), {"displacement.state_dependence": False}
    ),
    "no exploration account": Rule((*SMOOTH, "goal only"), {"exploration_rate": 0.0}),
    "exploration compared with the last return alone": Rule((*SMOOTH, "goal only"), {"usual_episodes": 1}),
    "ten times the exploration": Rule((*SMOOTH, "goal only"), {"exploration_rate": 1.0}),
    "ceiling of the range, not of what was seen": Rule(SMOOTH, options={"optimism": RangeCeiling()}),
    "no search": Rule((*SMOOTH, "PILCO"), options={"actor": Greedy()}),
    "search at every step": Rule((*SMOOTH, "PILCO"), {"selection.search.every": 1}),
    "search with half the sequences": Rule(SMOOTH, {f"{ICEM}.samples": 16, f"{ICEM}.kernels": 1_000_000}),
    "search no larger in a small model": Rule((*SMOOTH, "PILCO"), {f"{ICEM}.kernels": 1}),
    "search with no upper limit of sequences": Rule(SMOOTH, {f"{ICEM}.most": 2048}),
    "search in one round": Rule((*SMOOTH, "PILCO"), {f"{ICEM}.rounds": 1, f"{ICEM}.first_rounds": 1}),
    "search with few elites": Rule(SMOOTH, {f"{ICEM}.elites": 2, f"{ICEM}.kept": 1}),
    "search without momentum": Rule(SMOOTH, {f"{ICEM}.momentum": 0.0}),
    "search with twice the spread": Rule(SMOOTH, {f"{ICEM}.spread": 1.0}),
    "search with noise of one amplitude": Rule(SMOOTH, {f"{ICEM}.amplitudes": (1.0,)}),
    "search with white noise": Rule(SMOOTH, {f"{ICEM}.colour": 0.0}),
    "terminal value: the plan's": Rule(
        SMOOTH, options={"actor": MPC(value="plan")}, about=("selection.search.value",)
    ),
    "terminal value at half the landmarks": Rule(SMOOTH, {f"{TERMINAL}.landmarks": 200}),
    "terminal value with half the sequences": Rule(SMOOTH, {f"{TERMINAL}.sequences": 10}),
    "searches follow no policy": Rule(
        ("double pole", "PETS", "PILCO, long", "Pendulum"),
        {f"{ICEM}.proposals": 0, f"{TERMINAL}.following": 0},
        about=tuple(f"selection.search.policy.{name}" for name in ("fit_rows", "fit_steps", "centres", "starts")),
    ),
    "policy of the latest 400 transitions": Rule(
        ("double pole", "PETS", "PILCO, long", "Pendulum"),
        {"selection.search.policy.episodes": 1},
        about=("selection.search.policy.rows",),
    ),
    "terminal value without the policy": Rule(
        ("double pole", "PETS", "PILCO, long", "Pendulum"), {f"{TERMINAL}.following": 0}
    ),
    "terminal value without what was done": Rule(
        ("double pole", "PETS", "PILCO, long", "Pendulum"), {f"{TERMINAL}.own": 0}
    ),
    "terminal value of shorter sequences": Rule(SMOOTH, {f"{TERMINAL}.length": 4}),
    "terminal value in fewer rounds": Rule(SMOOTH, {f"{TERMINAL}.rounds": 5, f"{TERMINAL}.sweeps": 2}),
    "terminal value with a fixed kernel": Rule(
        (*SMOOTH, "swing-up"), {f"{TERMINAL}.fits": 0}, about=(f"{TERMINAL}.fit_rows",)
    ),
    "terminal value no more pessimistic about ends": Rule(
        ("CartPole", "MountainCar", "PILCO"), {f"{TERMINAL}.end_pessimism": 0.3}
    ),
    "terminal value without pessimism": Rule((*SMOOTH, "PILCO"), {f"{TERMINAL}.pessimism": 0.0}),
    "terminal value as rough as can be": Rule(SMOOTH, {f"{TERMINAL}.lengthscales": (0.1, 0.5)}),
    "terminal value with a tenth of the ridge": Rule(SMOOTH, {f"{TERMINAL}.least_ridge": 1e-3}),
    "terminal value of a nearer future": Rule(SMOOTH, {f"{TERMINAL}.longest": 30}),
    "half the centres": Rule(SMOOTH, {"displacement.centres": 100}),
    "likelihood of half the rows": Rule(SMOOTH, {"displacement.fit_rows": 100}, about=("displacement.fit_steps",)),
    "kernels from a smooth start only": Rule(
        ("PBall2D", "Pendulum", "PILCO", "Reacher"), {"displacement.starts": (2.0,)}
    ),
    "rewards are no sums": Rule(("Pendulum", "PETS", "PILCO", "Reacher"), {"displacement.additive": False}),
    "kernels of rewards are not compared on episodes left out": Rule(
        ("reacher-easy", "Pendulum", "PILCO"),
        {"displacement.reward_margin": 0.0},
        about=("displacement.reward_folds",),
    ),
    "ridges of the likelihood": Rule(
        SMOOTH, {"displacement.ridges.candidates": ()}, about=("displacement.ridges.folds",)
    ),
    "no outliers left out": Rule(
        SMOOTH, {f"{OUTLIERS}.far": np.inf}, about=tuple(f"{OUTLIERS}.{name}" for name in ("least", "most"))
    ),
    "no outliers left out where kernels are chosen": Rule(
        SMOOTH, {f"{OUTLIERS}.fit_most": 0.0}, about=(f"{OUTLIERS}.fit_width", f"{OUTLIERS}.fit_ridge")
    ),
    "half the landmarks": Rule(SMOOTH, {"displacement.landmarks": 150}, about=("displacement.most_weights",)),
    "no landmarks ahead of the data": Rule(SMOOTH, {"displacement.reach": 1}),
    "rougher values": Rule(SMOOTH, {"displacement.smoothness": 2.0}),
    "ends that pay are as costly as others": Rule(
        ("MountainCar", "goal only", "wind"), {f"{TERMINAL}.pessimism": 1.0}
    ),
    "no new kernel of rewards before the data have doubled": Rule(
        ("PBall2D", "PILCO", "goal only"), {"displacement.reward_surprise": np.inf}
    ),
    "one depth for all searches": Rule(SMOOTH, {"selection.depths": (14,)}, about=("selection.search.depth",)),
    "actors are not checked between choices": Rule((*SMOOTH, "swing-up", "PILCO, long"), {"selection.check": False}),
    "ends pay the mean of those seen": Rule(("landing", "CartPole", "MountainCar"), {"displacement.end_ridge": 1e9}),
    "a tenth of the transitions kept": Rule(SMOOTH, {"displacement.keep": 200, "keep": 400}),
    "no refinement of continuous actions": Rule(
        ("LQ, direct", "Pendulum, direct", "LQ"), {"refined.rounds": 0}, about=("refined.lengths",)
    ),
    "no replanning inside episodes": Rule((*FINITE, "PBall2D"), {"updates.replan_nats": np.inf}),
    "replanning at every nat": Rule(("PBall2D", "MountainCar", "CartPole"), {"updates.replan_share": 0.0}),
    "nothing waits": Rule((*FINITE, "Chain"), {"updates.wait_nats": 0.0}, about=("updates.wait_after",)),
    "a ceiling that is attained stays": Rule(
        ("TwoRooms, long", "PBall2D", "RiverSwim"),
        {"prize.attained_raise": 1.0},
        about=("prize.recent", "prize.good"),
    ),
    "one prize instead of three": Rule(("FrozenLake", "RiverSwim", "goal only"), {"prize.prizes": 1.0}),
    "compressed from 100 state-actions on": Rule(DIRECT, {"exact_limit": 100}),
    "kernels twice as wide": Rule(DIRECT, {"kernels.width": 0.2}),
    "actions' own kernel as wide as the shared one": Rule(DIRECT, {"kernels.own_width": 1.0}),
    "actions share next to nothing": Rule(DIRECT, {"kernels.shared": (0.01, 0.01)}),
    "declared bounds always count": Rule((*DIRECT, "CartPole"), {"kernels.sensible": (0.0, np.inf)}),
    "few categories share too": Rule(TWO_FLAGS, {"kernels.few": 0}),
    "many categories share nothing": Rule(TEN_FLAGS, {"kernels.few": 10**9}),
}


def read() -> dict[str, tuple[float, float]]:
    """Scores and processor times of all runs so far."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def key(rule: str, task: str, seed: int) -> str:
    """The name of a run; without a rule it is the default's."""
    return f"{rule or 'default'} | {task} | {seed}"


def play(wanted: list[tuple[str, str, int]], jobs: int) -> None:
    """Run what is missing, and keep each as it comes."""
    held = read()
    missing = [run for run in wanted if key(*run) not in held]
    workers = {"mp_context": get_context("spawn"), "initializer": end_with, "initargs": (os.getpid(),)}
    with ProcessPoolExecutor(jobs, **workers) as pool:
        futures = {pool.submit(score, *run): run for run in missing}
        try:
            for i, done in enumerate(as_completed(futures), start=1):
                name = key(*futures[done])
                held[name] = done.result()
                RESULTS.write_text(json.dumps(held, indent=0, sort_keys=True) + "\n")
                print(f"{i} of {len(futures)}: {name}, {held[name][1]:.0f} s", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # a run that fails is told at once
            raise


def score(rule: str, name: str, seed: int) -> tuple[float, float]:
    """One run: the mean return of its last episodes, or minus its regret; and its processor time."""
    logging.disable(logging.WARNING)
    task, begun = TASKS[name], time.process_time()
    options = (RULES[rule] if rule else Rule(())).given(task)
    history = cmerl.CMERL(task.make(), seed=seed, **options).learn(task.episodes).history
    seconds = time.process_time() - begun
    if task.last:
        return float(np.mean([record.ret for record in history[-task.last :]])), seconds
    return -float(sum(record.regret or 0.0 for record in history)), seconds


def cell(task: str, without: list[tuple[float, float]], default: list[tuple[float, float]]) -> str:
    """One task of a row: the paired difference with its standard error, and the ratio of processor times."""
    gaps = np.array([a[0] - b[0] for a, b in zip(without, default, strict=True)])
    ratio = sum(run[1] for run in without) / sum(run[1] for run in default)
    if len(gaps) == 1:
        return f"{task}: {gaps[0]:+.3g} (one seed), {ratio:.2g} x"
    error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    mark = " better" if gaps.mean() > max(error, 1e-9) else " worse" if gaps.mean() < -max(error, 1e-9) else ""
    return f"{task}: {gaps.mean():+.3g} ± {error:.2g}{mark}, {ratio:.2g} x"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", default="", help="only rules whose names start so")
    parser.add_argument("--task", default="", help="only tasks whose names start so")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    rows = {
        name: [task for task in rule.tasks if task.startswith(given.task)]
        for name, rule in RULES.items()
        if name.startswith(given.rule)
    }
    if not given.table:
        wanted = [
            (one, task, seed)
            for seed in seeds
            for name, tasks in rows.items()
            for task in tasks
            for one in ("", name)
        ]
        play(list(dict.fromkeys(wanted)), given.jobs)
    held = read()
    print("| without | difference from the default, and processor time over its |\n|---|---|")
    for name, tasks in rows.items():
        cells = []
        for task in tasks:
            pairs = [(held.get(key(name, task, seed)), held.get(key("", task, seed))) for seed in seeds]
            both = [(a, b) for a, b in pairs if a is not None and b is not None]
            if both:
                cells.append(cell(task, [a for a, _ in both], [b for _, b in both]))
        if cells:
            print(f"| {name} | " + "; ".join(cells) + " |")


if __name__ == "__main__":
    main()
