"""PAC policies: a policy drawn from those played, and its guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError


class TablePolicy(Protocol):
    """A policy that can be called, and listed on finitely many observations."""

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``."""
        ...

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The action at every step and observation (H, S)."""
        ...


@dataclass(frozen=True)
class PacPolicy:
    """The policy of one episode, drawn uniformly from all that were played.

    Attributes:
        policy: it.
        episode: which one, from 0.
        epsilon: what it loses at most, with the probability asked for; None where nothing is proven.
        certified: whether that is as little as was asked for.
        statement: the same in words.
    """

    policy: TablePolicy
    episode: int
    epsilon: float | None
    certified: bool
    statement: str

    def __call__(self, obs: Any, step: int) -> Any:
        """The action for an observation at ``step``."""
        return self.policy(obs, step)

    def table(self, observations: NDArray[Any]) -> NDArray[np.intp]:
        """The action at every step and observation (H, S), where actions are numbers."""
        return self.policy.table(observations)


def check_request(epsilon: float, delta: float, own_delta: float, episodes: int) -> float:
    """The failure probability that is left for the draw; refuses what cannot be asked for."""
    if not 0.0 < epsilon < np.inf:
        raise InputError(f"epsilon must be a positive number, not {epsilon!r}")
    if not own_delta < delta < 1.0:
        raise InputError(
            f"delta must lie between the agent's own {own_delta:g} and 1, not be {delta!r}: the rest is for the draw"
        )
    if episodes == 0:
        raise InputError("a policy is drawn from those that were played: learn first")
    return delta - own_delta


def statement(
    bound: float | None, episodes: int, failure: float, epsilon: float, delta: float, proof: str, *, most: float
) -> tuple[float | None, bool, str]:
    """What holds for a policy drawn from ``episodes`` with a regret of at most ``bound``: ε, if it will do, words.

    By Markov's inequality a policy drawn uniformly loses more than bound/(failure·T) with probability at most
    ``failure``; none loses more than ``most``, the range of returns.
    """
    if bound is None:
        return None, False, f"nothing is proven of this policy (proof: {proof})"
    return says(min(bound / (failure * episodes), most), epsilon, delta)


def says(lost: float, epsilon: float, delta: float) -> tuple[float, bool, str]:
    """What holds for a policy that loses at most ``lost``: ε, if it will do, words."""
    words = f"with probability at least {1 - delta:g}, this policy loses at most {lost:.4g} from the first state"
    if lost <= epsilon:
        return lost, True, f"{words}, as asked"
    return lost, False, f"{words}, which is more than the {epsilon:g} asked for: play more episodes"
