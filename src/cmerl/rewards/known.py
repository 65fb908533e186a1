"""A reward function that a user knows, of (observation, action) or (observation, action, next observation).

The package uses encoded rows; this module converts them to observations and actions. Plans call the function for one
row at a time and cache the result. Simulations call a function that accepts arrays once for all rows. Some functions
accept arrays but answer for the first row only, so results are compared with single rows: a few at first and one at
every call.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, RewardRangeError
from cmerl.spaces import StateSpace
from cmerl.spaces.actions import ActionSet
from cmerl.transitions import Points
from cmerl.validation import check_reward

FloatArray = NDArray[np.float64]
RewardFunction = Callable[..., Any]

PROBES = 8  # rows on which a function must answer arrays as it answers single rows


class KnownReward:
    """A user's reward function at encoded states and actions.

    Args:
        reward: the function.
        states: how observations are encoded.
        actions: the actions.
        declared: (lo, hi) which no reward may leave, or None.

    Attributes:
        of_next: whether the reward depends on the next observation too, so that the law of the next state is needed
            to know its expectation.
    """

    def __init__(
        self,
        reward: RewardFunction,
        states: StateSpace,
        actions: ActionSet,
        declared: tuple[float, float] | None = None,
    ) -> None:
        self._reward, self._states, self._actions, self._declared = reward, states, actions, declared
        self.of_next = takes_next(reward)
        self._takes_arrays: bool | None = None  # found out when many rows are first asked for
        self._calls = 0
        self._known: dict[bytes, FloatArray] = {}
        self._least, self._most = np.inf, -np.inf

    def leaves(self, lo: float, hi: float) -> bool:
        """Whether any reward that was asked for lies outside of [lo, hi]."""
        return self._least < lo or self._most > hi

    def __call__(self, states: Points) -> FloatArray:
        """Rewards (q, A) of all actions at encoded states, of a function of (observation, action)."""
        assert isinstance(states, np.ndarray)
        new = {state.tobytes(): state for state in states if state.tobytes() not in self._known}
        if new:
            rows, count = np.array([*new.values()]), len(self._actions)
            found = self._one_by_one([np.repeat(rows, count, axis=0), np.tile(self._actions.rows, (len(rows), 1))])
            self._known.update(zip(new, found.reshape(len(rows), count), strict=True))
        return np.array([self._known[state.tobytes()] for state in states]).reshape(-1, len(self._actions))

    def of(self, states: FloatArray, actions: FloatArray, next_states: FloatArray | None = None) -> FloatArray:
        """Rewards (n,) of transitions: encoded states (n, d), actions (n, d_a), and next states (n, d) if it asks."""
        rows = [states, actions] + ([next_states] if self.of_next and next_states is not None else [])
        if len(rows) != 2 + self.of_next:
            raise InputError("the reward function takes the next observation, which is not known here")
        values = self._all_at_once(rows) if len(states) > 1 else None
        if values is None:
            return self._one_by_one(rows)
        self._check(values, states)
        return values

    def _one_by_one(self, rows: list[FloatArray]) -> FloatArray:
        """Rewards (n,) by a call for each row."""
        values = np.array([self._single([row[i : i + 1] for row in rows]) for i in range(len(rows[0]))])
        self._check(values, rows[0])
        return values

    def _all_at_once(self, rows: list[FloatArray]) -> FloatArray | None:
        """Rewards (n,) by one call; None where the function does not take arrays."""
        if self._takes_arrays is None:
            spread = np.unique(np.linspace(0, len(rows[0]) - 1, PROBES).astype(np.intp))
            self._takes_arrays = self._agrees([row[spread] for row in rows])
        values = self._by_array(rows) if self._takes_arrays else None
        if values is None:
            return None
        self._calls += 1
        i = self._calls * 7919 % len(values)  # another row every time
        if not np.isclose(values[i], self._single([row[i : i + 1] for row in rows]), rtol=1e-9, atol=1e-12):
            self._takes_arrays = False
            return None
        return values

    def _agrees(self, rows: list[FloatArray]) -> bool:
        """Whether the function answers arrays as it answers their rows one by one."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                together = self._by_array(rows)
        except Exception:  # it was not written for arrays
            return False
        if together is None:
            return False
        singles = [self._single([row[i : i + 1] for row in rows]) for i in range(len(rows[0]))]
        return bool(np.allclose(together, singles, rtol=1e-9, atol=1e-12))

    def _by_array(self, rows: list[FloatArray]) -> FloatArray | None:
        """The function's result for arrays (n,); None if it does not accept arrays."""
        states, actions = self._states.decode_array(rows[0]), self._actions.decode_array(rows[1])
        if states is None or actions is None:
            return None
        later = [self._states.decode_array(row) for row in rows[2:]]
        values = np.asarray(self._reward(states, actions, *later), dtype=np.float64)
        return values if values.shape == (len(states),) else None

    def _single(self, rows: list[FloatArray]) -> float:
        obs, *later = (self._states.decode(row)[0] for row in (rows[0], *rows[2:]))
        return check_reward(self._reward(obs, self._actions.decode(rows[1][0]), *later))

    def _check(self, values: FloatArray, states: FloatArray) -> None:
        """Refuse what is no reward, or leaves the declared range; remember the extremes."""
        if not len(values):
            return
        if not np.isfinite(values).all():
            check_reward(values[~np.isfinite(values)][0])
        least, most = float(values.min()), float(values.max())
        if self._declared is not None and not (self._declared[0] <= least and most <= self._declared[1]):
            lo, hi = self._declared
            worst = int(np.argmax(values) if most > hi else np.argmin(values))
            obs = self._states.decode(states[worst : worst + 1])[0]
            raise RewardRangeError(
                f"the reward function gives {values[worst]:g} at {obs!r}, outside the declared "
                f"reward_range ({lo:g}, {hi:g}): declare a wider one"
            )
        self._least, self._most = min(self._least, least), max(self._most, most)


def takes_next(reward: RewardFunction) -> bool:
    """Whether a function takes (observation, action, next observation), rather than (observation, action)."""
    try:
        parameters = list(inspect.signature(reward).parameters.values())
    except (TypeError, ValueError):  # some that are written in C do not say
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    anything = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    missing = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(needed) > 3 or (len(places) < 2 and not anything) or missing:
        raise InputError(
            "reward must be a function of (observation, action) or (observation, action, next observation), "
            f"but takes ({', '.join(map(str, parameters))})"
        )
    return len(places) >= 3
