"""Calls of an environment: results are copied and checked, faults are named."""

from __future__ import annotations

import copy
import faulthandler
import math
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, MultiBinary, MultiDiscrete

from cmerl.errors import CmerlError, EnvironmentFault, InputError, StepTimeoutError, shown
from cmerl.validation import check_reward

T = TypeVar("T")


@dataclass(frozen=True)
class StepLimit:
    """The time limit of an environment.

    Attributes:
        seconds: over ``reset`` or over one step.
        end_process: end the process when it is stuck for three times as long in code that cannot be interrupted; for
            workers, whose driver knows what to do then.
    """

    seconds: float
    end_process: bool = False

    @classmethod
    def of(cls, limit: float | StepLimit | None) -> StepLimit | None:
        """A limit as users give it."""
        if limit is None or isinstance(limit, StepLimit):
            return limit
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0.0 < limit < math.inf:
            raise InputError(f"step_timeout must be a number of seconds above 0, or None, not {limit!r}")
        return cls(float(limit))


@dataclass(frozen=True)
class Step:
    """The outcome of a step, copied and checked."""

    obs: Any
    reward: float
    terminated: bool
    truncated: bool
    info: Any = None


def reset(env: gymnasium.Env[Any, Any], seed: int, limit: StepLimit | None = None) -> Any:
    """The first observation."""
    found = _ask("reset", lambda: env.reset(seed=seed), limit)
    if not isinstance(found, tuple) or len(found) != 2:
        raise EnvironmentFault(f"the environment's reset must return (observation, info), not {shown(found)}")
    return _shaped(env, own(found[0]))


def step(env: gymnasium.Env[Any, Any], action: Any, limit: StepLimit | None = None) -> Step:
    """Call step with a copy of the action."""
    found = _ask("step", lambda: env.step(own(action)), limit)
    if not isinstance(found, tuple) or len(found) != 5:
        raise EnvironmentFault(
            "the environment's step must return (observation, reward, terminated, truncated, info), "
            f"not {shown(found)}"
        )
    obs, reward, terminated, truncated, info = found
    return told(_shaped(env, obs), reward, terminated, truncated, info)


def _shaped(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """An observation whose shape is its space's: agents that never look at it would only store it."""
    space = env.observation_space
    if isinstance(space, Box | MultiBinary | MultiDiscrete):
        try:
            shape = np.shape(obs)
        except ValueError:  # rows of unequal length
            raise EnvironmentFault(f"the observation is not numeric: {shown(obs)}") from None
        if shape != space.shape:
            raise EnvironmentFault(f"the observation has shape {shape}, but the space has {space.shape}")
    return obs


def told(obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any = None) -> Step:
    """The outcome that a user reports, copied and checked."""
    flags = _flag("terminated", terminated), _flag("truncated", truncated)
    return Step(own(obs), check_reward(reward), *flags, info)


def own(value: Any) -> Any:
    """A private copy: environments may reuse one array for all observations."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, int | float | str | bytes | np.generic) or value is None:
        return value
    if type(value) is tuple:
        return tuple(own(item) for item in value)
    if type(value) in (dict, list):
        return {key: own(item) for key, item in value.items()} if type(value) is dict else [own(x) for x in value]
    try:
        return copy.deepcopy(value)
    except Exception as error:
        raise EnvironmentFault(f"an observation of type {type(value).__name__} cannot be copied") from error


def _flag(name: str, value: Any) -> bool:
    word = isinstance(value, str | bytes) or (isinstance(value, float) and math.isnan(value))  # which would be True
    try:
        flag = None if word else bool(value)
    except Exception:
        flag = None
    if flag is None:
        raise EnvironmentFault(f"{name} must be True or False, not {shown(value)}") from None
    return flag


def _ask(what: str, call: Callable[[], T], limit: StepLimit | None) -> T:
    """Let the environment do something; errors name it, and time is limited."""
    try:
        return call() if limit is None else _limited(what, call, limit)
    except CmerlError:
        raise
    except Exception as error:
        raise EnvironmentFault(f"the environment's {what} raised {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    """The kind of an error, and what it says, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")


class _TooLong(BaseException):
    """Raised inside the environment; no ``except Exception`` there can stop it."""


def _limited(what: str, call: Callable[[], T], limit: StepLimit) -> T:
    message = f"the environment's {what} took longer than step_timeout, {limit.seconds:g} s: make a new environment"
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGALRM"):
        return _by_alarm(call, limit, message)
    return _by_thread(call, limit, message)


def _by_alarm(call: Callable[[], T], limit: StepLimit, message: str) -> T:
    armed = True

    def ring(number: int, frame: Any) -> None:
        if armed:
            raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    silence = open(os.devnull, "w") if limit.end_process else None  # noqa: SIM115 - closed below
    if silence is not None:
        faulthandler.dump_traceback_later(3.0 * limit.seconds, exit=True, file=silence)
    signal.setitimer(signal.ITIMER_REAL, limit.seconds)
    try:
        return call()
    except _TooLong:
        raise StepTimeoutError(message) from None
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if silence is not None:
            faulthandler.cancel_dump_traceback_later()
            silence.close()


def _by_thread(call: Callable[[], T], limit: StepLimit, message: str) -> T:
    """Time limit by a thread: the call continues in its thread, but its result is ignored."""
    found: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:
            failed.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(limit.seconds)
    if failed:
        raise failed[0]
    if not found:
        raise StepTimeoutError(message)
    return found[0]
