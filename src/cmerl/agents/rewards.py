"""Rewards: their range, declared or learned as they arrive, and a reward function that a user knows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.actions import ActionSet
from cmerl.agents.base import check_reward
from cmerl.agents.spaces import StateSpace
from cmerl.errors import InputError, RewardRangeError
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")


class RewardRange:
    """The smallest and largest reward per step.

    Args:
        declared: (lo, hi), or "auto": starts at (0, 1) and widens to what is seen, saying so once.
        may_end: whether an episode may end early, which earns 0 from then on; also learned.

    Attributes:
        widened: whether a reward was seen outside the range assumed until then.
    """

    def __init__(self, declared: Any, *, may_end: bool) -> None:
        self.declared = not (isinstance(declared, str) and declared == "auto")
        self._lo, self._hi = check_range(declared) if self.declared else (0.0, 1.0)
        self.may_end = may_end
        self.widened = False
        self._seen: tuple[float, float] | None = None  # of rewards that did not end an episode
        self._best_end: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """(lo, hi); 0 is included where an episode may end early."""
        return (min(self._lo, 0.0), max(self._hi, 0.0)) if self.may_end else (self._lo, self._hi)

    def include(self, lo: float, hi: float) -> None:
        """Widen to rewards that are known beforehand."""
        self._lo, self._hi = min(self._lo, lo), max(self._hi, hi)

    def ceiling(self, episodes: int) -> tuple[float, float, float] | None:
        """(the best per step, how much more per step, the most once more at an end) to hope for.

        The best of t draws falls short of the best there is by about 1/t of their range, and what is paid for ending
        an episode is paid only once. If all rewards were alike nothing is known, and one more is hoped for.
        None if a range was declared.
        """
        if self.declared or self._seen is None:
            return None
        lo, hi = self._seen
        if lo == hi and self._best_end is None:
            return hi, 1.0, 0.0
        more = (hi - lo) / max(episodes, 1)
        if self._best_end is None:
            return hi, more, 0.0
        best, most = max(hi, 0.0), max(hi + more, 0.0)  # after an end 0 is earned a step
        return best, most - best, max(0.0, self._best_end - most)

    def see(self, reward: float, done: bool = False) -> None:
        """Take note of a reward, and of an early end; outside a declared range it is an error."""
        self._check(reward)
        if done:
            self.may_end = True
            self._best_end = reward if self._best_end is None else max(self._best_end, reward)
        else:
            lo, hi = self._seen or (reward, reward)
            self._seen = min(lo, reward), max(hi, reward)

    def _check(self, reward: float) -> None:
        if self._lo <= reward <= self._hi:
            return
        if self.declared:
            raise RewardRangeError(
                f"the reward {reward:g} lies outside the declared reward_range ({self._lo:g}, {self._hi:g}): "
                "declare a wider one, or use reward_range='auto'"
            )
        if not self.widened:
            log.warning(
                "a reward of %g was seen: the automatic reward_range (%g, %g) widens to what is seen; "
                "pass reward_range=(lo, hi) if you know it",
                reward,
                self._lo,
                self._hi,
            )
        self.include(reward, reward)
        self.widened = True

    def spec(self) -> dict[str, Any]:
        """A JSON-able description."""
        return {
            "declared": self.declared,
            "range": [self._lo, self._hi],
            "may_end": self.may_end,
            "widened": self.widened,
            "seen": self._seen,
            "best_end": self._best_end,
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> RewardRange:
        """The inverse of ``spec``."""
        found = cls(spec["range"], may_end=spec["may_end"])
        found.declared, found.widened = spec["declared"], spec["widened"]
        found._seen, found._best_end = spec["seen"] and tuple(spec["seen"]), spec["best_end"]
        return found


def check_range(reward_range: Any) -> tuple[float, float]:
    """A declared reward range as two finite floats."""
    try:
        lo, hi = (float(x) for x in reward_range)
    except (TypeError, ValueError):
        raise InputError(f"reward_range must be (lo, hi) or 'auto', not {reward_range!r}") from None
    if not (np.isfinite(lo) and np.isfinite(hi) and lo <= hi):
        raise InputError(f"reward_range must be finite with lo ≤ hi, not ({lo:g}, {hi:g})")
    return lo, hi


class KnownReward:
    """A user's reward function at states × actions; each state is asked for once."""

    def __init__(self, reward: Callable[[Any, Any], float], states: StateSpace, actions: ActionSet) -> None:
        self._reward, self._states, self._actions = reward, states, actions
        self._known: dict[bytes, FloatArray] = {}

    def __call__(self, states: Points) -> FloatArray:
        """Rewards (q, A) at encoded states."""
        assert isinstance(states, np.ndarray)
        rows = []
        for state in states:
            key = state.tobytes()
            if key not in self._known:
                obs = self._states.decode(state[None])[0]
                self._known[key] = np.array([check_reward(self._reward(obs, a)) for a in self._actions.values])
            rows.append(self._known[key])
        return np.array(rows).reshape(-1, len(self._actions))
