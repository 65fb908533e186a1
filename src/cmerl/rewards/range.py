"""The range of rewards, declared or learned."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, RewardRangeError

FloatArray = NDArray[np.float64]

log = logging.getLogger("cmerl")

ENOUGH = 20  # rewards after which one can stand out: the range of two or three says nothing


def alike(lo: float, hi: float, *, rounding: float = 1e-9) -> bool:
    """Whether rewards between these two say nothing: they differ by no more than rounding, of their size or of 1.

    Tails of a reward far from where it is paid, 1e-40 against 1e-200, are no reason to go anywhere.
    """
    return hi - lo <= rounding * max(1.0, abs(lo), abs(hi))


class Extremes:
    """The two smallest and the two largest of some numbers, and how many there were."""

    def __init__(self, low: Sequence[float] = (), high: Sequence[float] = (), count: int = 0) -> None:
        self.low, self.high, self.count = list(low), list(high), count

    def __bool__(self) -> bool:
        return bool(self.low)

    def add(self, number: float) -> None:
        """Take note of one more."""
        self.count += 1
        self.low = sorted([*self.low, number])[:2]
        self.high = sorted([*self.high, number])[-2:]

    def within(self, least: float, most: float) -> tuple[float, float]:
        """The smallest and largest of those between the given numbers; those themselves where there are none."""
        low = next((x for x in self.low if x >= least), least)
        high = next((x for x in reversed(self.high) if x <= most), most)
        return low, high


class RewardRange:
    """The smallest and largest reward per step.

    A single reward far outside the range of all others is not believed at once, once there are some: it does not
    widen the range, and counts as the most extreme of the others, until a second one has come. Optimism would
    otherwise follow an outlier for ever, and what is feared would never be tried again. What ends an episode is an
    event of its own and believed at once. This is for learned ranges without a proof.

    Args:
        declared: (lo, hi), or "auto": starts at (0, 1) and widens to what is seen, saying so once.
        may_end: whether an episode may end early, which earns 0 from then on; also learned.
        robust: whether outliers are doubted.

    Attributes:
        widened: whether a reward was seen outside the range assumed until then.
        known: whether the range follows from a reward function that was asked at every state.
    """

    def __init__(self, declared: Any, *, may_end: bool, robust: bool = True) -> None:
        self.declared = not (isinstance(declared, str) and declared == "auto")
        self._lo, self._hi = check_range(declared) if self.declared else (0.0, 1.0)
        self.may_end = may_end
        self.robust = robust and not self.declared
        self.widened = self.known = False
        self._steps, self._ends = Extremes(), Extremes()  # rewards that did not end an episode, and that did
        self._soonest = 0  # step at which an episode ended

    @property
    def bounds(self) -> tuple[float, float]:
        """(lo, hi); 0 is included where an episode may end early."""
        lo, hi = self._lo, self._hi
        if self._steps and not self.declared:
            low, high = self._steps.within(*self._limits())
            lo, hi = min(lo, low), max(hi, high)
        if self._ends and not self.declared:
            lo, hi = min(lo, self._ends.low[0]), max(hi, self._ends.high[-1])
        return (min(lo, 0.0), max(hi, 0.0)) if self.may_end else (lo, hi)

    def include(self, lo: float, hi: float) -> None:
        """Widen to rewards that are known beforehand, all of them."""
        self._lo, self._hi = min(self._lo, lo), max(self._hi, hi)
        self.known = True

    @property
    def assumption(self) -> str | None:
        """The unstated assumption of a proof about rewards; None if the range was declared or is known."""
        return None if self.declared or self.known else f"all rewards lie in [{self._lo:g}, {self._hi:g}]"

    def counted(self, rewards: FloatArray, ended: NDArray[np.bool]) -> FloatArray:
        """The rewards (n,) to learn, with outliers clipped."""
        lo, hi = self._others()
        least, most = self._limits()
        believed = np.where(rewards < least, lo, np.where(rewards > most, hi, rewards))
        return np.where(ended, rewards, believed)

    def _others(self) -> tuple[float, float]:
        """The range that is assumed, and that of all rewards but the smallest and the largest one."""
        if not self.robust or self._steps.count < ENOUGH:
            return -np.inf, np.inf
        return min(self._lo, self._steps.low[1]), max(self._hi, self._steps.high[0])

    def _limits(self, far: float = 1.0) -> tuple[float, float]:
        """Below and above which a reward is an outlier: so many times the range of all others outside of it."""
        lo, hi = self._others()
        return lo - far * (hi - lo), hi + far * (hi - lo)

    @property
    def step_rewards(self) -> tuple[float, float] | None:
        """The smallest and the largest reward of a step that did not end an episode; None before the first."""
        return (self._steps.low[0], self._steps.high[-1]) if self._steps else None

    @property
    def believed_step_rewards(self) -> tuple[float, float] | None:
        """The same without an outlier."""
        return self._steps.within(*self._limits()) if self._steps else None

    @property
    def fallback(self) -> float:
        """The reward that plans without optimism count from: the smallest seen, and 0; cautious ones assume it.

        The least of a declared range may be far below anything that is paid, and would make such plans keep to what
        was visited most, whatever it pays. An automatic range is what was seen.
        """
        seen = [extremes.low[0] for extremes in (self._steps, self._ends) if extremes]
        return max(self.bounds[0], min([0.0, *seen])) if self.declared else self.bounds[0]

    @property
    def best_end(self) -> float | None:
        """The largest reward of a step that ended an episode; None before the first."""
        return self._ends.high[-1] if self._ends else None

    @property
    def soonest_end(self) -> int:
        """The earliest step at which an episode ended."""
        return self._soonest

    def see(self, reward: float, ended_at: int | None = None) -> None:
        """Take note of a reward, and of an early end at that step; outside a declared range it is an error."""
        self._check(reward)
        if ended_at is None:
            self._steps.add(reward)
            return
        self.may_end = True
        self._soonest = min(self._soonest, ended_at) if self._ends else ended_at
        self._ends.add(reward)

    def _check(self, reward: float) -> None:
        lo, hi = self.bounds
        if lo <= reward <= hi:
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
                lo,
                hi,
            )
        self.widened = True

    def spec(self) -> dict[str, Any]:
        """A JSON-able description."""
        return {
            "declared": self.declared,
            "range": [self._lo, self._hi],
            "may_end": self.may_end,
            "robust": self.robust,
            "widened": self.widened,
            "steps": [self._steps.low, self._steps.high],
            "ends": [self._ends.low, self._ends.high],
            "soonest": self._soonest,
            "seen": self._steps.count,
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> RewardRange:
        """The inverse of ``spec``."""
        found = cls(spec["range"], may_end=spec["may_end"])
        found.declared, found.robust, found.widened = spec["declared"], spec["robust"], spec["widened"]
        seen = spec.get("seen", ENOUGH)  # files of earlier versions do not say
        (low, high), ends = spec["steps"], spec["ends"]
        found._steps, found._ends = Extremes(low, high, seen), Extremes(*ends)
        found._soonest = spec["soonest"]
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
