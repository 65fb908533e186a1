"""Dynamic regret balancing: play whichever candidate promises the least regret, and drop those found to lie.

Candidate i claims that its regret over its first k episodes is at most

    U_i(k) = min{H·k,  Σ over its episodes of Σ_h min{what can be left, excess_i}  +  floor·H·√k},

the sum from the bonuses that it met, and the last term for bad luck. Each episode is played by the active candidate
that claims the least. A candidate is active while its mean return, with what it claims to lose and what chance may
hide, could still be as good as what another has shown to be attainable. All learn from all transitions. The first
state must be fixed, or drawn independently in each episode.

For rewards from r_min to r_max, H stands for H·(r_max − r_min).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cmerl.confidence import Auto


@dataclass(frozen=True)
class Learner:
    """What a candidate has to show for itself.

    Attributes:
        label: its name.
        episodes: k, how many it played.
        returns: the sum of their returns.
        excess: the sum of what it expected to lose in them, at most.
    """

    label: str
    episodes: int = 0
    returns: float = 0.0
    excess: float = 0.0

    def played(self, ret: float, excess: float) -> Learner:
        """After one more episode."""
        return replace(self, episodes=self.episodes + 1, returns=self.returns + ret, excess=self.excess + excess)


@dataclass(frozen=True)
class Balance:
    """Whose turn it is.

    Attributes:
        learners: one for each candidate.
        span: the most that one episode can lose, H·(r_max − r_min).
        width: c, of the intervals of mean returns.
        floor: of what bad luck may cost.
        delta: failure probability of the intervals.
    """

    learners: tuple[Learner, ...]
    span: float
    width: float
    floor: float
    delta: float

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

    def turn(self) -> int:
        """The candidate that plays next: those that never did, the most optimistic first, then the least U_i."""
        unplayed = [i for i, learner in enumerate(self.learners) if learner.episodes == 0]
        if unplayed:
            return unplayed[-1]
        claims = [
            self.putative(learner) if may else math.inf
            for learner, may in zip(self.learners, self.active(), strict=True)
        ]
        return claims.index(min(claims))

    def report(self) -> list[dict[str, Any]]:
        """The state of every candidate, ready for JSON."""
        return [
            {**asdict(learner), "putative": self.putative(learner), "active": may}
            for learner, may in zip(self.learners, self.active(), strict=True)
        ]


def balance(mode: Auto, report: Sequence[dict[str, Any]] | None, span: float, delta: float) -> Balance:
    """The balance after the episode that ended with ``report``, or before the first one."""
    if report is None:
        learners = tuple(Learner(candidate.label) for candidate in mode.candidates)
    else:
        learners = tuple(Learner(r["label"], r["episodes"], r["returns"], r["excess"]) for r in report)
    return Balance(learners, span, mode.width, mode.floor, delta)
