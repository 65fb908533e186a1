"""The default agent from scratch on the tasks of suites/control.toml, with nothing tuned: a table and a picture.

    python benchmarks/control.py                            # seeds 100 to 104 of all tasks, then the table
    python benchmarks/control.py --split confirming         # only one half of the suite
    python benchmarks/control.py --task Pendulum --seeds 3  # only tasks whose names start so
    python benchmarks/control.py --table                    # only what the results hold
    python benchmarks/control.py --picture                  # and docs/images/control.png of it

Runs that benchmarks/results/control.json holds are not repeated, so a run that was interrupted goes on: ``--fresh``
drops those asked for first, and must be given whenever the agent has changed; each run names the commit that it was
made with. ``--results`` takes another file, ``--first-seed`` other seeds; table and picture are of the seeds asked
for. ``--jobs 2`` plays two runs at a time, which end with the command, even if it is killed. Seconds are of the
processor.

The table has what was measured before beside it: the first version, from benchmarks/results/control-first.json, and
Stable-Baselines3, from benchmarks/results/baselines.json (see baselines.py), each with its returns while learning.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import cmerl
from cmerl import oracles
from cmerl.experiments.engines.local import end_with
from control_report import picture, summary, table
from control_suite import Run, Task, tasks

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "control.json"
FIRST = HERE / "results" / "control-first.json"
BASELINES = HERE / "results" / "baselines.json"
PICTURE = HERE.parent / "docs" / "images" / "control.png"


def run(task: Task, seed: int, commit: str) -> Run:
    """One seed of a task."""
    logging.getLogger("cmerl").setLevel(logging.ERROR)
    started, env = time.process_time(), task.make()
    agent = cmerl.CMERL(env, seed=seed, **task.agent_options(env)).learn(task.episodes)
    seconds = time.process_time() - started
    history = agent.history
    found = {
        "task": task.name,
        "seed": seed,
        "commit": commit,
        "model": str(agent.diagnostics()["backend"]),
        "seconds": round(seconds / task.episodes, 4),
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


def write(runs: list[Run], path: Path) -> None:
    """All runs, one a line; the file is whole at any time."""
    path.parent.mkdir(exist_ok=True)
    text = ",\n".join(json.dumps(r) for r in sorted(runs, key=lambda r: (r["task"], r["seed"])))
    part = path.with_suffix(".part")
    part.write_text(f"[\n{text}\n]\n")
    os.replace(part, path)


def play(wanted: list[tuple[Task, int]], runs: list[Run], jobs: int, path: Path) -> None:
    """Run what is missing, and keep each as it comes."""
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
    done = {(r["task"], r["seed"]) for r in runs}
    missing = [(task, seed) for task, seed in wanted if (task.name, seed) not in done]
    workers = {"mp_context": get_context("spawn"), "initializer": end_with, "initargs": (os.getpid(),)}
    with ProcessPoolExecutor(jobs, **workers) as pool:
        futures = {pool.submit(run, task, seed, asked.stdout.strip()): task for task, seed in missing}
        for future in as_completed(futures):
            task, found = futures[future], future.result()
            runs.append(found)
            write(runs, path)
            about = f"{task.value(found):.2f}, {found['seconds']:.2f} s an episode"
            print(f"{task.name}, seed {found['seed']}: {about}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="", help="only the task of that name, or those whose name starts so")
    parser.add_argument("--split", choices=("choosing", "confirming"), help="only this half of the suite")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of runs")
    parser.add_argument("--fresh", action="store_true", help="drop the runs asked for and make them again")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--picture", action="store_true", help="run nothing, and draw the picture too")
    options = parser.parse_args()
    named = [t for t in tasks() if t.name == options.task] or [t for t in tasks() if t.name.startswith(options.task)]
    chosen = [t for t in named if options.split in (None, t.split)]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    wanted = [(task, seed) for seed in seeds for task in chosen]
    names = {(task.name, seed) for task, seed in wanted}
    runs = read(options.results)
    if not (options.table or options.picture):
        if options.fresh:
            runs = [r for r in runs if (r["task"], r["seed"]) not in names]
        play(wanted, runs, options.jobs, options.results)
    runs = [r for r in runs if (r["task"], r["seed"]) in names]
    others = {} if options.results.resolve() == FIRST else {"first version": read(FIRST)}
    if options.picture:
        picture(chosen, runs, others, read(BASELINES), PICTURE)
    print(table(chosen, runs, others, read(BASELINES)))
    print(summary(chosen, runs))


if __name__ == "__main__":
    main()
