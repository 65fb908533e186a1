"""Ctrl-C at random lines while an agent learns: it can go on, and answers with numbers."""

from __future__ import annotations

import logging
import random
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import numpy as np
from interrupts import interrupted_after
from rows import Row

from cmerl import rollback
from cmerl.agents import Settings, make

SETTINGS = Settings(exact_limit=20, keep=60)
AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("cmerl/PBall2D-v0", {"horizon": 8, "model": "direct", "backend": "auto"}),  # hands over to compressed on the way
    ("cmerl/PBall2D-v0", {"horizon": 8, "backend": "nystrom"}),
    ("cmerl/PBall2D-v0", {"horizon": 8, "model": "displacement"}),
    ("cmerl/RiverSwim-v0", {}),
    ("cmerl/RiverSwim-v0", {"time_homogeneous": False, "horizon": 6}),
]


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """So many interrupts. ``broken``: nothing is turned back."""
    rng, row = random.Random(seed), Row("interrupts")
    logging.getLogger("cmerl").setLevel(logging.CRITICAL)
    nothing = mock.patch.object(rollback, "checkpoint", return_value=lambda: None)
    with warnings.catch_warnings(), nothing if broken else mock.patch.object(row, "name"):
        warnings.simplefilter("ignore")
        while row.tried < count:
            env, options = AGENTS[row.tried % len(AGENTS)]
            agent = make("cme-rl", gymnasium.make(env), seed=row.tried, settings=SETTINGS, **options)
            agent.learn(rng.randint(0, 5))
            for _ in range(4):
                row.attempt(f"{env}, {options}, interrupt {row.tried}", lambda a=agent: _interrupt(a, rng))
    row.name = "interrupts"
    return row


def _interrupt(agent: Any, rng: random.Random) -> str:
    before = len(agent.history)
    # Half of them while the model is being changed, the others anywhere.
    where = "_update" if rng.random() < 0.5 else None
    with interrupted_after(int(10 ** rng.uniform(1, 3 if where else 4.2)), function=where) as outcome:
        agent.learn(2)
    done = len(agent.history)
    memory = agent.model
    if any(E.n != memory.n for E in memory.embeddings) and len(memory.embeddings) == 1:
        return f"bad: the embedding has {memory.embeddings[0].n} transitions, its memory {memory.n}"
    agent.learn(1)
    if len(agent.history) != done + 1 or done < before:
        return "bad: episodes were lost"
    obs, _ = agent.env.reset(seed=0)
    if not np.all(np.isfinite(agent.q_values(obs))):
        return "bad: a value that is no number"
    return "interrupted and went on" if outcome.interrupted else "came too late"
