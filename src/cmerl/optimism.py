"""Optimistic initialisation: a ceiling on values for every step, used where there are no data.

Q reverts to the ceiling wherever the model has no weight, so the ceilings control exploration. Each rule is an
``Optimism`` that turns knowledge about rewards into ``Ceilings``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.rewards import RewardRange, alike

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ceilings:
    """Ceilings at every step, for rewards that count from the smallest one (H + 1 each).

    Attributes:
        cap: the most that V can be: it is clipped there.
        prior: what Q is where there are no data, at most ``cap``.
    """

    cap: FloatArray
    prior: FloatArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ceilings):
            return NotImplemented
        return np.array_equal(self.cap, other.cap) and np.array_equal(self.prior, other.prior)

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, not hashed


@dataclass(frozen=True)
class Outlook:
    """The best that the rest of an episode may bring where there are no data, in the environment's units.

    Attributes:
        reward: the best reward per step that was seen.
        margin: by how much a step may pay more than was seen.
        prize: the most that an end pays more than a step.
        steps_to_termination: steps until an end, where ending is what makes ``reward`` possible.
        reward_until_then: the best reward per step before that end.
    """

    reward: float
    margin: float = 0.0
    prize: float = 0.0
    steps_to_termination: int = 0
    reward_until_then: float = 0.0


@dataclass(frozen=True)
class Situation:
    """The information available to an optimism rule.

    Attributes:
        rewards: the range of rewards, declared or seen.
        horizon: H.
        episodes: how many were learned from.
        max_return: a known maximal return, or None.
        usual: what good episodes have returned of late; None before the first, and where states are finitely many.
        places_pay: whether a reward is known to depend on the state.
    """

    rewards: RewardRange
    horizon: int
    episodes: int
    max_return: float | None = None
    usual: float | None = None
    places_pay: bool = True

    def ceilings(self, outlook: Outlook | None) -> Ceilings:
        """The ceilings that follow from an outlook; from the range of rewards alone if it is None."""
        lo, hi = self.rewards.bounds
        return ceilings(self.horizon, hi - lo, r_min=lo, outlook=outlook, max_return=self.max_return)


class Optimism(Protocol):
    """A rule for ceilings."""

    def ceilings(self, now: Situation) -> Ceilings:
        """What is assumed where there are no data."""
        ...


def ceilings(
    horizon: int,
    width: float,
    *,
    r_min: float = 0.0,
    outlook: Outlook | None = None,
    max_return: float | None = None,
) -> Ceilings:
    """Ceilings for rewards of a range of ``width`` from ``r_min`` on."""
    steps = np.arange(horizon, -1, -1)
    cap: FloatArray = steps * np.float64(width)
    if outlook is not None:
        best = outlook.reward - r_min
        cap = np.minimum(cap, steps * (best + outlook.margin) + outlook.prize)
    if max_return is not None:
        cap = np.minimum(cap, max(max_return - horizon * r_min, 0.0))
    prior = cap
    if outlook is not None:
        wait = np.minimum(outlook.steps_to_termination, steps)
        lost = wait * (outlook.reward - outlook.reward_until_then)
        prior = np.maximum(cap - lost, 0.0)
    return Ceilings(np.asarray(cap, dtype=np.float64), np.asarray(prior, dtype=np.float64))


def attained_share(usual: float, horizon: int, best: float) -> float:
    """The share of the best reward that a usual return earns a step, counted from 0."""
    return min(max(usual / horizon, 0.0) / best, 1.0) if best > 0.0 else 0.0


@dataclass(frozen=True)
class RangeCeiling:
    """The largest reward of the range at every step that is left."""

    def ceilings(self, now: Situation) -> Ceilings:
        """(H − step)·width, or a known maximal return if that is less."""
        return now.ceilings(None)


@dataclass(frozen=True)
class PrizeCeiling:
    """``RangeCeiling`` with two exceptions in which the seen range is a poor guide.

    Where good episodes earn nearly the best reward at every step, that is no optimism: whatever attains it, if only a
    distractor, ends the search. If they earn the share q of it, a step may pay (q·``attained_raise``)² times the best
    reward, if that is more. This does not shrink with time: visits lower what is assumed, and a search that begins
    late needs as much. Shares count from 0 and not from the smallest reward: whoever only avoids the worst cost would
    go on searching.
    Where every step has paid the same and an end more, it is only some such ends.

    Args:
        prizes: how many; with one alone, some bad luck would be taken for the whole truth.
        attained_raise: root of the factor by which there may be more than the best reward where it is attained; one
            over it is the share from which on the ceiling rises.
        recent: the latest episodes that are looked at.
        good: the quantile of their returns that good episodes have.
    """

    prizes: float = 3.0
    attained_raise: float = 2.0
    recent: int = 20
    good: float = 0.75

    def ceilings(self, now: Situation) -> Ceilings:
        """Those of the prize where there is one, else those of the range, or of more where that is attained."""
        outlook = self.outlook(now.rewards)
        if outlook is not None or now.rewards.declared or now.usual is None:
            return now.ceilings(outlook)
        lo, hi = now.rewards.bounds
        most = hi * max(1.0, (self.attained_raise * attained_share(now.usual, now.horizon, hi)) ** 2)
        return ceilings(now.horizon, most - lo, r_min=lo, max_return=now.max_return)

    def usual(self, returns: Sequence[float] | FloatArray) -> float | None:
        """What good episodes have returned of late, of all returns so far; None before the first."""
        latest = returns[-self.recent :]
        return float(np.quantile(latest, self.good)) if len(latest) else None

    def outlook(self, rewards: RewardRange) -> Outlook | None:
        """Prizes at an end; None where the range was declared or steps differ."""
        steps, prize = rewards.step_rewards, rewards.best_end
        if rewards.declared or steps is None or prize is None or not alike(*steps):
            return None
        best = max(steps[1], 0.0)  # after an end 0 is earned a step
        return Outlook(best, prize=self.prizes * (prize - best)) if prize > best else None


@dataclass(frozen=True)
class SeenCeiling:
    """The best reward seen at every step, and a margin that shrinks with the number of episodes.

    The best of t draws falls short of the best there is by about 1/t of their range. If all rewards were alike
    nothing is known, and a step may pay one more. After one episode, and while rewards follow from the action alone,
    even the range is not known: a step may yet pay for a whole episode, so that the next one looks around whatever
    that costs. What ends an episode is paid once.
    Where ending is good because steps cost, an end may come 1/t sooner than it ever came: were it assumed at once
    wherever there are no data, nothing known could compete.
    """

    def ceilings(self, now: Situation) -> Ceilings:
        """Those of what was seen, or of the range if that was declared.

        While no reward is known to depend on the state, what actions cost gives the unit, not the range that is
        assumed before the first reward.
        """
        outlook = self.outlook(now)
        if outlook is None or now.places_pay:
            return now.ceilings(outlook)
        lo = now.rewards.bounds[0]
        width = outlook.reward + outlook.margin - lo
        return ceilings(now.horizon, width, r_min=lo, outlook=outlook, max_return=now.max_return)

    def outlook(self, now: Situation) -> Outlook | None:
        """The assumed best outcome after a number of episodes; None if a range was declared."""
        steps, prize, episodes = now.rewards.believed_step_rewards, now.rewards.best_end, now.episodes
        if now.rewards.declared or steps is None:
            return None
        lo, hi = steps
        if alike(lo, hi) and prize is None:
            return Outlook(hi, 1.0)
        nothing_known = episodes <= 1 or not now.places_pay
        margin = (hi - lo) * (now.horizon if nothing_known else 1.0 / episodes)
        if prize is None:
            return Outlook(hi, margin)
        best, most = max(hi, 0.0), max(hi + margin, 0.0)  # after an end 0 is earned a step
        wait = int(now.rewards.soonest_end * (1.0 - 1.0 / max(episodes, 1)))
        return Outlook(best, most - best, max(0.0, prize - most), wait, hi)
