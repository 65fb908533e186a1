"""Records of episodes, and the protocol of policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

REGRET_KINDS = (None, "policy", "gaps", "monte-carlo")  # the last is an experiment's estimate


class Policy(Protocol):
    """A policy: ``policy(obs, step)`` returns an action of the environment."""

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step`` (from 0)."""
        ...


@dataclass(frozen=True)
class EpisodeRecord:
    """The record of a finished episode.

    Attributes:
        episode: number of the episode, from 0.
        ret: undiscounted return in the environment's units.
        length: steps taken.
        regret: V* − V^π at the first state ("policy"), or the sum of gaps if it was replanned inside or the
            environment is continuous ("gaps"); None where no model is known.
        regret_kind: "policy", "gaps" or None.
        seconds: time of the agent and the environment, without the oracle.
        metrics: other values, ready for JSON; "value" is V₁(s₁) of the first plan, "optimum" is V*₁(s₁) if the
            dynamics are known, "certified_regret" is a proven bound on the total regret so far, if there is one, and
            "certified_most" is the trivial bound.
    """

    episode: int
    ret: float
    length: int
    regret: float | None
    regret_kind: str | None
    seconds: float
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass
class Trajectory:
    """An episode in the making: what was seen of it.

    Attributes:
        steps: at which each action was taken.
        observations: before each action.
        actions: as the environment got them.
        rewards: for each action.
        nexts: the observation after each action.
        replans: steps from which a new plan was followed.
        lost: steps without a reported outcome.
        unplaced: rewards of lost steps that were told all the same.
        terminated: whether the environment ended the episode for good.
    """

    steps: list[int] = field(default_factory=list)
    observations: list[Any] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    nexts: list[Any] = field(default_factory=list)
    replans: list[int] = field(default_factory=list)
    lost: int = 0
    unplaced: float = 0.0
    terminated: bool = False

    def add(self, step: int, obs: Any, action: Any, reward: float, next_obs: Any, terminated: bool) -> None:
        """One more transition."""
        self.steps.append(step)
        self.observations.append(obs)
        self.actions.append(action)
        self.rewards.append(reward)
        self.nexts.append(next_obs)
        self.terminated = terminated

    @property
    def complete(self) -> bool:
        """Whether all steps were seen."""
        return self.lost == 0

    @property
    def total(self) -> float:
        """The return."""
        return float(sum(self.rewards)) + self.unplaced

    def runs(self) -> list[slice]:
        """Transitions that follow one another, each beginning where the one before has led."""
        cuts = [
            i
            for i in range(1, len(self.steps))
            if self.steps[i] != self.steps[i - 1] + 1 or self.observations[i] is not self.nexts[i - 1]
        ]
        return [slice(a, b) for a, b in pairwise([0, *cuts, len(self.steps)])] if self.steps else []

    def states(self, run: slice) -> list[Any]:
        """All observations of a run, the last one included."""
        return [*self.observations[run], *self.nexts[run][-1:]]


def begin(policy: Policy) -> Policy:
    """A policy for one episode: one that searches remembers on the way what it has found."""
    start: Callable[[], Policy] | None = getattr(policy, "begin_episode", None)
    return policy if start is None else start()


def go_on(play: Policy, policy: Policy) -> Policy:
    """A new policy in the midst of an episode: one that is watched over takes its watch along."""
    carry: Callable[[Policy], Policy] | None = getattr(play, "go_on_with", None)
    return begin(policy) if carry is None else carry(policy)
