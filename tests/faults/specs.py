"""Specs that nobody should write: one sentence each, and quickly."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import mutations
from rows import Row

from cmerl.experiments.runner import check, load_spec
from cmerl.experiments.spec import Spec

SOUND: dict[str, Any] = {
    "environments": [{"id": "cmerl/RiverSwim-v0", "options": {}}],
    "agents": [
        "random",
        {"name": "cme-rl", "options": {"lam": 0.5, "bonus": {"mode": "practical", "prior_scale": 0.5}}},
    ],
    "episodes": 3,
    "horizon": 5,
    "seeds": [1, 2],
    "rollouts": 0,
    "engine": "local",
}
HOSTILE: list[dict[str, Any]] = [
    {"seeds": 60_000},
    {"seeds": 10**9},
    {"seeds": [2**63]},
    {"seeds": [1, 1]},
    {"horizon": 10**12},
    {"episodes": 10**400},
    {"agents": [{"name": "cme-rl", "options": {"bonus": 5}}]},
    {
        "agents": [
            {"name": "cme-rl", "options": {"kernel": {"type": "StateAction", "state_kernel": 1, "action_kernel": 2}}}
        ]
    },
    {"agents": [{"name": "cme-rl", "options": {"lam": float("nan")}}]},
    {"agents": [{"name": "ucbvi", "options": {"bonus_scale": "x"}}]},
    {"agents": [{"name": "psrl", "options": {"reward_range": 3}}]},
    {"environments": [{"id": "cmerl/RiverSwim-v0", "options": {"states": "many"}}]},
    {"environments": [{"id": "cmerl/RiverSwim-v0", "wrappers": [{"name": "TimeLimit", "max_episode_steps": -1}]}]},
    {"environments": [{"id": "\ud800"}]},
    {"environments": [{"id": "a\x00b"}]},
    {"environments": ["os:system"]},
    {"allow_env_modules": ["no.such.module"]},
    {"address": "ray://x"},
]


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """Load and check specs. ``broken``: as pydantic alone has it."""
    rng, row = random.Random(seed), Row("specs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(count):
            values = {**SOUND, **HOSTILE[i]} if i < len(HOSTILE) else mutations.damage_tree(SOUND, rng)

            def use(values: Any = values, i: int = i) -> str:
                if broken:
                    Spec.model_validate(values)
                    return "works"
                if i % 2:
                    path = where / "spec.json"
                    path.write_text(mutations.strange_json(rng) if i % 10 == 9 else json.dumps(values))
                    values = path
                spec = load_spec(values, {})
                check(spec.model_copy(update={"episodes": 1}))
                return "works"

            row.attempt(f"spec {i} of seed {seed}: {str(values)[:80]}", use)
    return row
