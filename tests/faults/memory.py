"""Runs and agents under a limit of memory: a sentence or a result, and nothing lost once there is room again."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import processes
from rows import Row

MEGABYTE = 1 << 20
RUN = ("cmerl/PBall2D-v0", "--agent", "cme-rl", "--seeds", "1", "--episodes", "12", "--jobs", "1")

# What a child does with the memory that it has; the last line of its output is the verdict.
LEARN = """
import resource, sys
import gymnasium, numpy as np, scipy.linalg, cmerl
from cmerl.agents import Settings
broken, room, seed = sys.argv[1] == "True", int(sys.argv[2]), int(sys.argv[3])
settings = Settings(exact_limit=10**6)
agent = cmerl.CMERL(gymnasium.make("cmerl/PBall2D-v0"), horizon=8, seed=seed, settings=settings, model="direct")
agent.learn(2)
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + room, hard))
if broken:
    from cmerl import rollback
    rollback.checkpoint = lambda *a, **k: lambda: None
short = False
try:
    agent.learn(400)
except (MemoryError, cmerl.errors.CmerlError):
    short = True
resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
done, n = len(agent.history), agent.model.n
held = [E.n for E in agent.model.embeddings]
agent.learn(2)
q = agent.q_values(agent.env.reset(seed=0)[0])
right = np.isfinite(q).all() and len(agent.history) == done + 2 and held == [n] and n == 8 * done
verdict = "right" if right else f"bad: {done} episodes, {n} transitions, {held} in the embedding"
print(verdict, "short" if short else "enough")
"""


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """So many runs and agents with too little memory. ``broken``: a run may not say why it ended."""
    rng, row = random.Random(seed), Row("memory limits")
    undisturbed = where / "undisturbed"
    code, _, err = processes.run("run", *RUN, "--out", undisturbed)
    assert code == 0, err
    wanted = processes.files(undisturbed)["episodes"]
    for i in range(count):
        limit = _needed() + rng.randint(-150, 250) * MEGABYTE
        deed = _run if broken or i % 2 == 0 else _learn
        row.attempt(
            f"{deed.__name__[1:]} {i} of seed {seed}, {limit // MEGABYTE} MB",
            lambda d=deed, n=limit, i=i: d(n, where / f"run-{i}", wanted, broken, rng),
        )
        if broken and row.bad:  # found out: the others take seconds each, and show no more
            break
    return row


@cache
def _needed() -> int:
    """Address space of a process that has imported what a run needs."""
    code = "import cmerl.agents, cmerl.experiments, scipy.linalg; print(open('/proc/self/statm').read().split()[0])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return int(said) * resource.getpagesize()


def _limited(limit: int) -> Any:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def _run(limit: int, directory: Path, wanted: Any, broken: bool, rng: random.Random) -> str:
    """``cmerl run`` within the limit, then ``cmerl resume`` without."""
    main = "from cmerl.cli import main; main()"
    if broken:  # what Python does by itself
        main = "from cmerl.cli import app; app()(standalone_mode=False)"
    arguments = [sys.executable, "-c", main, "run", *RUN, "--out", str(directory)]
    child = subprocess.run(
        arguments, capture_output=True, text=True, timeout=processes.PATIENCE, preexec_fn=_limited(limit)
    )
    said = child.stderr.strip()
    if child.returncode and ("Traceback" in said or not said):
        return f"bad: exit code {child.returncode}, {said[-100:]!r}"
    if (directory / "manifest.json").exists():
        code, _, err = processes.run("resume", directory)
        if code or processes.files(directory)["episodes"] != wanted:
            return f"bad: it does not go on once there is room: {err[-80:]}"
    return "told, and went on" if child.returncode else "enough room"


def _learn(limit: int, directory: Path, wanted: Any, broken: bool, rng: random.Random) -> str:
    """An agent that runs out of memory in the middle of learning."""
    arguments = [
        sys.executable,
        "-c",
        LEARN,
        str(broken),
        str(rng.randint(0, 40) * MEGABYTE),
        str(rng.randint(0, 99)),
    ]
    child = subprocess.run(arguments, capture_output=True, text=True, timeout=processes.PATIENCE)
    verdict, _, memory = child.stdout.strip().rpartition(" ")
    if child.returncode or verdict != "right":
        return f"bad: {verdict or child.stderr[-200:]}"
    return "told, and went on" if memory == "short" else "enough room"
