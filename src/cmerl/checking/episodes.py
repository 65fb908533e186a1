"""Episodes played with a record of everything that the environment returned."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

Env = gymnasium.Env[Any, Any]
RANDOM = "env.action_space.sample()"


@dataclass
class Step:
    """What one step gave.

    Attributes:
        returned: the observation object itself, which the environment may change later.
        obs: a copy made at once.
        reward: as it came; likewise the flags.
    """

    returned: Any
    obs: Any
    reward: Any = 0.0
    terminated: Any = False
    truncated: Any = False


@dataclass
class Episode:
    """An episode: ``steps[0]`` is what reset gave.

    Attributes:
        steps: what was seen.
        error: the exception that ended it, if one did.
        overwritten: first step whose observation was changed by a later one.
        changed_action: first step that changed the action it was given.
        drew: which global generators were drawn from.
        reset_seconds: duration of the reset.
        step_seconds: duration of all steps.
        seed: that it was reset with.
        action: every action, as Python writes it; ``RANDOM`` where they were drawn from the space with the same seed.
    """

    steps: list[Step] = field(default_factory=list)
    error: Exception | None = None
    overwritten: int | None = None
    changed_action: int | None = None
    drew: tuple[str, ...] = ()
    reset_seconds: float = 0.0
    step_seconds: float = 0.0
    seed: int = 0
    action: str = RANDOM

    def replay(self, steps: int) -> str:
        """Python that plays the first steps of the episode again."""
        lines = [f"env.reset(seed={self.seed})"]
        if steps:
            lines += [f"for _ in range({steps}): env.step({self.action})"]
        if steps and self.action == RANDOM:
            lines = [f"env.action_space.seed({self.seed})", *lines]
        return "\n".join(lines)

    def first_difference(self, other: Episode) -> int | None:
        """The first step at which two episodes differ; None if they do not."""
        for i, (a, b) in enumerate(zip(self.steps, other.steps, strict=False)):
            mine, theirs = ((s.obs, s.reward, s.terminated, s.truncated) for s in (a, b))
            if not same(mine, theirs):
                return i
        return None if len(self.steps) == len(other.steps) else min(len(self.steps), len(other.steps))


def play(env: Env, *, seed: int, actions: Iterator[Any], steps: int, patience: float = float("inf")) -> Episode:
    """One episode of at most ``steps`` steps and ``patience`` seconds; an exception is recorded, not raised."""
    episode = Episode()
    before = _global_states()
    try:
        started = time.perf_counter()
        obs, _ = env.reset(seed=seed)
        episode.reset_seconds = time.perf_counter() - started
        episode.steps.append(Step(obs, copy.deepcopy(obs)))
        for i in range(1, steps + 1):
            action = next(actions)
            given = copy.deepcopy(action)
            started = time.perf_counter()
            obs, reward, terminated, truncated, _ = env.step(given)
            episode.step_seconds += time.perf_counter() - started
            if episode.changed_action is None and not same(action, given):
                episode.changed_action = i
            last = episode.steps[-1]
            if episode.overwritten is None and not same(last.returned, last.obs):
                episode.overwritten = i - 1
            episode.steps.append(Step(obs, copy.deepcopy(obs), reward, terminated, truncated))
            if terminated or truncated or episode.step_seconds > patience:
                break
    except Exception as error:  # whatever a stranger's code raises is a finding
        episode.error = error
    after = _global_states()
    episode.drew = tuple(name for name in before if not same(before[name], after[name]))
    return episode


def same(a: Any, b: Any) -> bool:
    """Whether two nested values are equal, NaN included."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple | list):
        return isinstance(b, tuple | list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray | float | np.floating) or isinstance(b, np.ndarray):
        x, y = np.asarray(a), np.asarray(b)
        return x.shape == y.shape and bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f"))
    return bool(a == b)


def written(action: Any) -> str:
    """An action as Python writes it."""
    return f"np.{action!r}" if isinstance(action, np.ndarray) else repr(getattr(action, "item", lambda: action)())


def random_actions(space: gymnasium.Space[Any], seed: int) -> Iterator[Any]:
    """Random actions that depend on the seed only."""
    own = copy.deepcopy(space)
    own.seed(seed)
    while True:
        yield own.sample()


def _global_states() -> dict[str, Any]:
    return {"numpy.random": np.random.get_state(), "random": random.getstate()}  # noqa: NPY002 - looked at, not drawn


@contextmanager
def global_seeds(seed: int) -> Iterator[None]:
    """Global generators in a known state, and put back as they were afterwards."""
    states = _global_states()
    np.random.seed(seed)  # noqa: NPY002 - to find out whether the environment draws from it
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(states["numpy.random"])  # noqa: NPY002
        random.setstate(states["random"])
