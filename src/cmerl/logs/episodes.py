"""A logged episode, checked against its spaces."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cmerl.errors import InputError, shown
from cmerl.validation import check_reward

FloatArray = NDArray[np.float64]

ROUNDING = 1e-5  # relative: numbers that were written as text, or as float32, may leave their bounds by this much
REQUIRED = ("observations", "actions", "rewards")


@dataclass(frozen=True, eq=False)
class LoggedEpisode:
    """A logged episode.

    Attributes:
        observations: T + 1 observations, including the final one.
        actions: T actions, as passed to the environment.
        rewards: (T,).
        terminated: True if the environment terminated.
        where: its name in messages.
    """

    observations: Sequence[Any]
    actions: Sequence[Any]
    rewards: FloatArray
    terminated: bool
    where: str

    def __len__(self) -> int:
        return len(self.actions)

    @classmethod
    def of(cls, played: Any, where: str) -> LoggedEpisode:
        """An episode from a mapping or an object with these attributes; lengths are checked."""
        columns = {name: _entry(played, name, where) for name in REQUIRED}
        observations, actions = (_items(columns[name], f"{where}: {name}") for name in REQUIRED[:2])
        rewards = [
            _located(check_reward, r, f"{where}, step {t}") for t, r in enumerate(_items(columns["rewards"], where))
        ]
        T = len(actions)
        if not T:
            raise InputError(f"{where} has no steps: leave it out")
        if len(rewards) != T or len(observations) != T + 1:
            raise InputError(
                f"{where} has {len(observations)} observations, {T} actions and {len(rewards)} rewards: {T} actions "
                f"need {T} rewards and {T + 1} observations, the last one after the last action"
            )
        ended = _ended(_entry(played, "terminated", where, default=False), T, where)
        return cls(observations, actions, np.array(rewards), ended, where)

    def within(self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> LoggedEpisode:
        """The same episode with every value checked against its space."""
        observations = [
            _cast(o, observation_space, self._at(t, "observation")) for t, o in enumerate(self.observations)
        ]
        actions = [_cast(a, action_space, self._at(t, "action")) for t, a in enumerate(self.actions)]
        return replace(self, observations=observations, actions=actions)

    def _at(self, step: int, what: str) -> str:
        return f"{self.where}, step {step}: the {what}"

    def lesson(self) -> dict[str, Any]:
        """The episode in the form of ``Agent.lesson``."""
        return {
            "observations": list(self.observations),
            "actions": list(self.actions),
            "rewards": self.rewards.tolist(),
            "replans": [],
            "terminated": self.terminated,
        }

    def feed(self, digest: hashlib._Hash) -> None:
        """Add the episode to a checksum."""
        for values in (self.observations, self.actions):
            for value in values:
                digest.update(_bytes(value))
        digest.update(self.rewards.tobytes() + bytes([self.terminated]))


def _entry(played: Any, name: str, where: str, default: Any = None) -> Any:
    found = played.get(name, default) if isinstance(played, Mapping) else getattr(played, name, default)
    if name == "terminated" and found is default and not isinstance(played, Mapping):
        found = getattr(played, "terminations", default)  # as Minari calls it
    if found is None:
        given = ", ".join(map(str, played)) if isinstance(played, Mapping) else f"a {type(played).__name__}"
        raise InputError(f"{where} has no {name}: it has {given}; an episode needs {', '.join(REQUIRED)}")
    return found


def _items(values: Any, where: str) -> list[Any]:
    """A sequence step by step; a dictionary of columns, as of Dict observations, becomes one dictionary a step."""
    if isinstance(values, Mapping):
        columns = {key: _items(column, where) for key, column in values.items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{where} must be a sequence with an entry a step, not {shown(values)}") from None


def _ended(flag: Any, steps: int, where: str) -> bool:
    """Whether the last step ended the episode, from one flag or from one per step."""
    flags = np.atleast_1d(np.asarray(flag, dtype=bool))
    if flags.shape not in ((1,), (steps,)):
        raise InputError(f"{where}: terminated must be one flag, or one for each of {steps} steps, not {flags.shape}")
    if flags[:-1].any():
        raise InputError(f"{where} goes on after it terminated at step {int(np.argmax(flags))}: split it there")
    return bool(flags[-1])


def _cast(value: Any, space: spaces.Space[Any], what: str) -> Any:
    """A value with the type that its space has, if it lies within."""
    if isinstance(space, spaces.Dict):
        missing = [key for key in space.spaces if not isinstance(value, Mapping) or key not in value]
        if missing:
            raise InputError(f"{what} has no {missing[0]!r}: {shown(value)}")
        return {key: _cast(value[key], inner, f"{what}, {key!r},") for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Discrete):
        number = _number(value, what)
        if number != int(number) or not space.contains(int(number)):
            last = int(space.start + space.n - 1)
            raise InputError(f"{what} is {number:g}, outside of the whole numbers {int(space.start)} to {last}")
        return int(number)
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return _array(value, space, what)
    if not space.contains(value):
        raise InputError(f"{what} is {shown(value)}, which is not in {space}")
    return value


def _number(value: Any, what: str) -> float:
    try:
        number = float(np.asarray(value, dtype=np.float64).reshape(()))
    except (TypeError, ValueError):
        raise InputError(f"{what} is {shown(value)}, not a number") from None
    if not np.isfinite(number):
        raise InputError(f"{what} is {number}")
    return number


def _array(value: Any, space: spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary, what: str) -> NDArray[Any]:
    try:
        found = np.asarray(value, dtype=np.float64).reshape(space.shape)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {shown(value)}, not numbers of shape {space.shape}") from None
    if not np.isfinite(found).all():
        raise InputError(f"{what} has a NaN or infinite entry: {shown(found)}")
    if isinstance(space, spaces.Box):
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        sizes = [np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in (low, high)]
        slack = ROUNDING * np.maximum(1.0, np.maximum(*sizes))
        outside = (found < low - slack) | (found > high + slack)
        if outside.any():
            at = tuple(int(i) for i in np.argwhere(outside)[0])
            column = f" in column {', '.join(map(str, at))}" if at else ""
            raise InputError(f"{what} has {found[at]:g}{column}, outside of [{low[at]:g}, {high[at]:g}]")
        found = np.clip(found, low, high)
    typed = found.astype(space.dtype)
    if not isinstance(space, spaces.Box) and not space.contains(typed):
        raise InputError(f"{what} is {shown(value)}, which is not in {space}")
    return np.asarray(typed)


def _located(check: Any, value: Any, where: str) -> Any:
    try:
        return check(value)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _bytes(value: Any) -> bytes:
    if isinstance(value, Mapping):
        return b"".join(str(key).encode() + _bytes(item) for key, item in value.items())
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return repr(value).encode()
    return array.tobytes()
