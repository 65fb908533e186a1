"""Environments that misbehave: an agent refuses what it cannot use, says where, and goes on."""

from __future__ import annotations

import copy
import logging
import random
import re
import time
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import numpy as np
from rows import Row

from cmerl.agents import environment_calls, make
from cmerl.errors import CmerlError

HARMLESS = ("one array", "changed action", "list", "float32", "integer reward", "array reward", "sound")
FATAL = (
    "NaN", "infinity", "outlier", "huge outlier", "shape", "text", "nothing", "reward NaN", "reward text",
    "reward None",
    "reward huge", "reward overflow", "flag", "short tuple", "no tuple", "raises in step", "raises in reset", "slow",
    "strange error", "object",
)  # fmt: skip


class Strange:
    """Something that says nothing, not even its name."""

    def __repr__(self) -> str:
        raise RuntimeError("no name")


class World(gymnasium.Env[Any, Any]):
    """A walk in the plane, or on a line of states, that does one odd thing in its odd episodes' third step."""

    def __init__(self, oddity: str, *, discrete: bool = False) -> None:
        self.oddity, self.discrete, self.odd = oddity, discrete, False
        self.action_space = gymnasium.spaces.Discrete(2)
        box = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
        self.observation_space = gymnasium.spaces.Discrete(5) if discrete else box
        self._shared = np.zeros(2, dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.x = 0, np.zeros(2)
        if self.odd and self.oddity == "raises in reset":
            raise OSError("no connection\nto the robot")
        return self._seen(), {}

    def _seen(self) -> Any:
        if self.discrete:
            return int(np.clip(2 + round(4 * self.x[0]), 0, 4))
        if self.oddity == "one array":
            self._shared[:] = self.x
            return self._shared
        return self.x.tolist() if self.oddity == "list" else self.x.astype("f4" if self.oddity == "float32" else "f8")

    def step(self, action: Any) -> Any:
        self.t += 1
        self.x = np.clip(self.x + 0.2 * (2 * int(action) - 1) + 0.02 * self.np_random.normal(size=2), -1, 1)
        result = [self._seen(), float(self.x[0] > 0.3), False, False, {}]
        if self.odd and self.t == 3:
            result = self._odd(result)
        return tuple(result) if isinstance(result, list) else result

    def _odd(self, result: list[Any]) -> Any:
        bad = -7 if self.discrete else np.full(2, 7.0)
        observations = {
            "NaN": bad if self.discrete else bad * np.nan,
            "infinity": bad if self.discrete else bad * np.inf,
            "outlier": bad if self.discrete else bad * 1e20,
            "huge outlier": bad if self.discrete else bad * 1e200,
            "shape": np.zeros(3),
            "text": "somewhere",
            "nothing": None,
            "object": Strange(),
        }
        rewards = {"reward NaN": np.nan, "reward text": "much", "reward None": None, "reward huge": 1e300}
        if self.oddity in observations:
            result[0] = observations[self.oddity]
        elif self.oddity in rewards:
            result[1] = rewards[self.oddity]
        elif self.oddity == "reward overflow":
            result[1] = 10**400
        elif self.oddity in ("integer reward", "array reward"):
            result[1] = int(result[1]) if self.oddity == "integer reward" else np.array(result[1])
        elif self.oddity == "flag":
            result[2] = np.array([True, False])
        elif self.oddity == "short tuple":
            return tuple(result[:4])
        elif self.oddity == "no tuple":
            return result[0]
        elif self.oddity == "slow":
            time.sleep(5.0)
        elif self.oddity == "raises in step":
            raise ZeroDivisionError("in the physics")
        elif self.oddity == "strange error":
            raise KeyError(Strange)
        return result

    def close(self) -> None:
        raise RuntimeError("close raises too")


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """So many odd episodes. ``broken``: observations are not copied."""
    rng, row = random.Random(seed), Row("misbehaving worlds")
    logging.getLogger("cmerl").setLevel(logging.CRITICAL)
    kinds = [(o, *k) for o in (*HARMLESS, *FATAL) for k in (("cme-rl", False), ("cme-rl", True), ("ucbvi", True))]
    kinds = [kind for kind in kinds if not (kind[2] and kind[0] in ("one array", "list", "float32"))]
    rng.shuffle(kinds)
    patch = (
        mock.patch.object(environment_calls, "own", lambda value: value) if broken else mock.patch.object(row, "name")
    )
    with warnings.catch_warnings(), patch:
        warnings.simplefilter("error")
        for i in range(count):
            oddity, name, discrete = kinds[i % len(kinds)]
            what = f"{oddity}, {name}, {'discrete' if discrete else 'numbers'}, episode {i} of seed {seed}"
            row.attempt(what, lambda o=oddity, n=name, d=discrete, s=i: play_oddly(o, n, d, s))
    row.name = "misbehaving worlds"
    return row


def play_oddly(oddity: str, name: str, discrete: bool, seed: int) -> str:
    world, calm = World(oddity, discrete=discrete), World("sound", discrete=discrete)
    agent, other = (make(name, env, horizon=6, seed=seed) for env in (world, calm))
    agent.learn(2)
    other.learn(2)
    before = copy.copy(getattr(getattr(agent, "_rewards", None), "spec", dict)())
    world.odd = True
    try:
        agent.learn(1, step_timeout=1.0 if oddity == "slow" else None)
        outcome = "taken"
    except CmerlError as error:
        if not re.match(r"episode 2, step \d", str(error)) or "\n" in str(error):
            return f"bad: it is not said where: {error}"
        if oddity in ("raises in step", "raises in reset") and error.__cause__ is None:
            return "bad: the cause is not named"
        outcome = "refused with its place"
    if (oddity in HARMLESS) != (outcome == "taken"):
        return f"bad: {outcome}"
    if oddity.startswith("reward ") and before and agent.rewards.spec()["range"] != before["range"]:
        return "bad: a refused reward widens the range"
    world.odd = False
    agent.learn(2)
    if oddity in HARMLESS and oddity != "float32":
        other.learn(3)
        if [r.ret for r in agent.history] != [r.ret for r in other.history]:
            return "bad: it learned something else than from a sound world"
    if not world.action_space.contains(int(agent.predict(world.reset(seed=0)[0]))):
        return "bad: an action that is none"
    return outcome
