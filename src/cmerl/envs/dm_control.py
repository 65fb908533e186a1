"""Tasks of the DeepMind Control Suite as Gymnasium environments; needs the extra ``control``, and no graphics."""

from __future__ import annotations

import os
import sys
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.validation.numbers import check_count, check_numbers

Floats = NDArray[np.float64]


class DmControl(gymnasium.Env[Floats, Any]):
    """A task of the DeepMind Control Suite: its observations as one vector, its actions held for some of its steps.

    A step of this environment is ``action_repeat`` steps of the suite and pays the sum of their rewards: an episode
    returns at most 1000 for any repeat. Episodes end only by the suite's time limit, which truncates.

    Args:
        domain: such as "cartpole".
        task: such as "swingup".
        action_repeat: steps of the suite for which an action is held.

    Attributes:
        horizon: steps in an episode.
    """

    def __init__(self, domain: str, task: str, action_repeat: int = 4) -> None:
        self.action_repeat = check_count("action_repeat", action_repeat)
        self._random = np.random.RandomState(0)
        self._env = _load(domain, task, self._random)
        self.horizon = -(-round(self._env._step_limit) // self.action_repeat)  # the suite has no public name for it
        limits = self._env.action_spec()
        self.action_space = spaces.Box(limits.minimum, limits.maximum, dtype=np.float64)
        size = sum(int(np.prod(part.shape)) for part in self._env.observation_spec().values())
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start an episode as the suite does."""
        super().reset(seed=seed)
        if options:
            raise InputError(f"reset() of a dm_control task knows no options, but was given {sorted(options)}.")
        if seed is not None:
            self._random.seed(np.random.SeedSequence(seed).generate_state(1))
        self._running = True
        return _flat(self._env.reset().observation), {}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Hold an action for ``action_repeat`` steps of the suite, or to the end of the episode."""
        push, space = check_numbers("the action", action), self.action_space
        assert isinstance(space, spaces.Box)
        if push.shape != space.shape or not ((space.low <= push) & (push <= space.high)).all():
            raise InputError(f"the action must lie in {space}, but is {action!r}.")
        if not self._running:
            raise InputError("call reset() before the first step(), and when an episode has ended.")
        paid = 0.0
        for _ in range(self.action_repeat):
            now = self._env.step(push)
            paid += float(now.reward)
            if now.last():
                self._running = False
                break
        ended = bool(now.last() and now.discount == 0)
        return _flat(now.observation), paid, ended, bool(now.last() and not ended), {}


def _flat(observation: dict[str, ArrayLike]) -> Floats:
    """The parts of an observation one after the other (o,)."""
    parts = [np.ravel(np.asarray(part, dtype=np.float64)) for part in observation.values()]
    return np.concatenate(parts)


def _load(domain: str, task: str, random: Any) -> Any:
    """The suite's own environment; what it needs of graphics is switched off unless the user has chosen."""
    os.environ.setdefault("MUJOCO_GL", "disable")
    try:
        from dm_control import suite
    except ImportError:
        old = sys.version_info < (3, 13)  # labmaze, which dm_control needs, has no release for later versions
        how = (
            "the extra: pip install 'cmerl[control]'"
            if old
            else "Python 3.11 or 3.12, and pip install 'cmerl[control]'"
        )
        raise InputError(f"tasks of dm_control need {how}") from None
    if (domain, task) not in suite.ALL_TASKS:
        tasks = sorted(t for d, t in suite.ALL_TASKS if d == domain)
        known = f"its tasks are {', '.join(tasks)}" if tasks else f"domains are {', '.join(suite.TASKS_BY_DOMAIN)}"
        raise InputError(f"dm_control has no task {task!r} of {domain!r}: {known}.")
    return suite.load(domain, task, task_kwargs={"random": random})
