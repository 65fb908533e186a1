"""Agent files that were damaged, also with their checksum made anew: refused in a sentence, or agents that work."""

from __future__ import annotations

import logging
import random
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import mutations
import numpy as np
from rows import Row

import cmerl  # noqa: F401 - registers its worlds
from cmerl.agents import Settings, base, make
from cmerl.agents.saving import container

SHORT = Settings(keep=30)  # what is held without a log
WORLDS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "log": ("cmerl/RiverSwim-v0", "cme-rl", {}, 2),
    "log of numbers": ("cmerl/PBall2D-v0", "cme-rl", {"model": "direct", "horizon": 8}, 2),
    "compressed": ("cmerl/PBall2D-v0", "cme-rl", {"backend": "compressed", "horizon": 8, "settings": SHORT}, 8),
    "displacement": ("MountainCar-v0", "cme-rl", {"model": "displacement", "horizon": 20, "settings": SHORT}, 2),
    "balanced": ("cmerl/RiverSwim-v0", "balanced", {}, 2),
    "counts": ("cmerl/RiverSwim-v0", "psrl", {}, 3),
    "optimism by counts": ("cmerl/RiverSwim-v0", "ucbvi", {}, 3),
    "random": ("cmerl/RiverSwim-v0", "random", {}, 3),
}


@cache
def saved() -> dict[str, tuple[bytes, type, str]]:
    """A file of every kind."""
    found = {}
    for name, (env, agent, options, episodes) in WORLDS.items():
        made = make(agent, gymnasium.make(env), **options).learn(episodes)
        with tempfile.TemporaryDirectory() as folder:
            made.save(path := Path(folder) / "agent")
            found[name] = path.read_bytes(), type(made), env
    return found


def signed_anew(content: bytes, rng: random.Random) -> bytes:
    """Damage what a file says, and make its checksum right."""
    tensors, meta = container.from_bytes(content, "")
    if rng.random() < 0.5:
        meta = mutations.damage_tree(meta, rng)
        meta = meta if isinstance(meta, dict) else {}
        if rng.random() < 0.9:
            meta["format"] = container.FORMAT
    else:
        name = rng.choice(sorted(tensors))
        kind = rng.random()
        if kind < 0.1:
            del tensors[name]
        elif kind < 0.2:
            tensors["embedding.7.strange"] = tensors[name]
        else:
            tensors[name] = mutations.damage_array(tensors[name], rng)
    return container.to_bytes(tensors, meta)


def works(agent: Any, env: gymnasium.Env[Any, Any]) -> str:
    """Whether an agent answers, and its answers are numbers."""
    obs, _ = env.reset(seed=0)
    if not env.action_space.contains(agent.predict(obs)):
        return "bad: an action that is none"
    if hasattr(agent, "q_values") and not np.all(np.isfinite(agent.q_values(obs))):
        return "bad: a value that is no number"
    return "works"


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """Load files, half of them signed anew. ``broken``: with nothing checked before agents are built."""
    rng, row = random.Random(seed), Row("agent files")
    names = sorted(saved())
    logging.getLogger("cmerl").setLevel(logging.ERROR)

    def unchecked(cls: Any, tensors: Any, meta: Any, name: str, env: Any, given: Any) -> Any:
        return cls._built(tensors, meta, env, given)

    patch = (
        mock.patch.object(base.Agent, "_from", classmethod(unchecked)) if broken else mock.patch.object(row, "name")
    )
    with warnings.catch_warnings(), patch:
        warnings.simplefilter("ignore")
        for i in range(count):
            kind = names[i % len(names)]
            content, cls, id = saved()[kind]
            raw = i % 2 == 0
            hurt = mutations.damage_bytes(content, rng) if raw else signed_anew(content, rng)
            path = where / "agent.cmerl"
            path.write_bytes(hurt)
            same = not raw or hurt == content or _same(hurt, content)
            load = partial(_load, cls, path, gymnasium.make(id), same)
            row.attempt(f"{kind}, file {i} of seed {seed}", load)
    row.name = "agent files"
    return row


def _load(cls: Any, path: Path, env: gymnasium.Env[Any, Any], same: bool) -> str:
    """Load a file; damage to its bytes must be seen."""
    agent = cls.load(path, env=env)
    return works(agent, env) if same else "bad: damage that was not seen"


def _same(one: bytes, other: bytes) -> bool:
    """Whether two files say the same: what pads a header, or its order, may differ."""
    try:
        (a, about_a), (b, about_b) = (container.from_bytes(content, "") for content in (one, other))
    except ValueError:
        return False
    return about_a == about_b and a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)
