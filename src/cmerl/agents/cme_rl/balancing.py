"""Dynamic regret balancing: play the candidate with the smallest claimed regret, and drop refuted ones.

Candidate i claims that its regret over its first k episodes is at most

    U_i(k) = min{H·k,  Σ over its episodes of Σ_h min{the largest possible remaining return, excess_i}  +
    floor·H·√k},

the sum from the bonuses that it met, and the last term for bad luck. Each episode is played by the active candidate
that claims the least. A candidate is active while its mean return, with what it claims to lose and what chance may
hide, could still be as good as what another has shown to be attainable. All learn from all transitions. The first
state must be fixed, or drawn independently in each episode.

Unproven claims are not worth comparing. Such candidates, the least optimistic first, are compared by

    L_j(k) = Σ_{i ≤ j} lost_i  +  (j + 1)·floor·H·√k,      j = 0, 1, …,

where lost_i is how far the returns of candidate i > 0 fell short of what a greedy plan promised at the time (never
less than 0). So the most reckless plays, except for trials of bolder ones, which together may lose as much as it may
have missed, and the boldest wait until the losses of the others are made up for.

For rewards from r_min to r_max, H stands for H·(r_max − r_min).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from cmerl.confidence import Balanced


@dataclass(frozen=True)
class Learner:
    """The state of a candidate.

    Attributes:
        label: its name.
        episodes: k, how many it played.
        returns: the sum of their returns.
        excess: the sum of what it expected to lose in them, at most.
        lost: how far their returns fell short of a greedy plan's values, where that is asked.
    """

    label: str
    episodes: int = 0
    returns: float = 0.0
    excess: float = 0.0
    lost: float = 0.0

    def played(self, ret: float, excess: float, greedy: float | None = None) -> Learner:
        """After one more episode, for which a greedy plan promised ``greedy``, if that is asked."""
        return Learner(
            self.label,
            self.episodes + 1,
            self.returns + ret,
            self.excess + excess,
            self.lost if greedy is None else max(0.0, self.lost + greedy - ret),
        )


@dataclass(frozen=True)
class Balance:
    """Whose turn it is.

    Attributes:
        learners: one for each candidate.
        span: the most that one episode can lose, H·(r_max − r_min).
        width: c, of the intervals of mean returns.
        floor: of what bad luck may cost.
        delta: failure probability of the intervals.
        proven: whether claims are proven for true constants, so that they can be compared; otherwise the learners
            stand in order, the most reckless first, and what they lost is compared.
    """

    learners: tuple[Learner, ...]
    span: float
    width: float
    floor: float
    delta: float
    proven: bool = True

    def putative(self, learner: Learner) -> float:
        """U_i: what a candidate claims to have lost at most."""
        k = learner.episodes
        return min(self.span * k, learner.excess + self.floor * self.span * math.sqrt(k))

    def interval(self, learner: Learner) -> float:
        """Half the width of the confidence interval of a mean return."""
        k = learner.episodes
        log_term = math.log(len(self.learners) * math.log(math.e * k) / self.delta)
        return self.width * self.span * math.sqrt(max(log_term, 0.0) / k)

    def active(self) -> list[bool]:
        """Which candidates may still be right; all of them until each has played."""
        if any(learner.episodes == 0 for learner in self.learners):
            return [True] * len(self.learners)
        shown = max(learner.returns / learner.episodes - self.interval(learner) for learner in self.learners)
        return [
            (learner.returns + self.putative(learner)) / learner.episodes + self.interval(learner) >= shown
            for learner in self.learners
        ]

    def stakes(self) -> list[float]:
        """The balanced quantity of each candidate: U_i, or L_i if claims are not proven."""
        if self.proven:
            return [self.putative(learner) for learner in self.learners]
        losses = itertools.accumulate(learner.lost for learner in self.learners)
        luck = [(j + 1) * self.floor * self.span * math.sqrt(x.episodes) for j, x in enumerate(self.learners)]
        return [loss + bad for loss, bad in zip(losses, luck, strict=True)]

    def turn(self) -> int:
        """The candidate that plays next: the active one with the least at stake.

        Who never played has no claim yet, so where claims are compared each plays once, the most optimistic first.
        """
        unplayed = [i for i, learner in enumerate(self.learners) if learner.episodes == 0]
        if self.proven and unplayed:
            return unplayed[-1]
        stakes = [s if may else math.inf for s, may in zip(self.stakes(), self.active(), strict=True)]
        return stakes.index(min(stakes))

    def after(self, turn: int, ret: float, excess: float, greedy: float | None = None) -> Balance:
        """The balance after candidate ``turn`` has played."""
        played = self.learners[turn].played(ret, excess, greedy)
        return replace(self, learners=(*self.learners[:turn], played, *self.learners[turn + 1 :]))

    def report(self) -> list[dict[str, Any]]:
        """The state of every candidate, ready for JSON."""
        return [
            {**asdict(learner), "putative": self.putative(learner), "stake": stake, "active": may}
            for learner, stake, may in zip(self.learners, self.stakes(), self.active(), strict=True)
        ]


def balance(mode: Balanced, report: Sequence[dict[str, Any]] | None, span: float, delta: float) -> Balance:
    """The balance after the episode that ended with ``report``, or before the first one."""
    if report is None:
        learners = tuple(Learner(candidate.label) for candidate in mode.candidates)
    else:
        names = [field.name for field in fields(Learner)]
        learners = tuple(Learner(**{name: r[name] for name in names}) for r in report)
    return Balance(learners, span, mode.width, mode.floor, delta, mode.provable)
