"""The chain: a small sure reward at the start against a large one at the end of a slippery path."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cmerl.envs.finite import FiniteMDP, Floats
from cmerl.validation.numbers import check_count, check_probability

FORWARD, BACK = 0, 1


def chain_tables(states: int, slip: float) -> tuple[Floats, Floats]:
    """Transitions (S, 2, S) and expected rewards (S, 2) of a chain with ``states`` links."""
    P = np.zeros((states, 2, states))
    R = np.zeros((states, 2))
    last = states - 1
    for s in range(states):
        P[s, FORWARD, min(s + 1, last)] = 1.0
    P[:, BACK, 0] = 1.0
    R[last, FORWARD] = 1.0
    R[:, BACK] = 0.2
    # A slip has the whole effect of the other action, so both tables mix with their mirror image.
    return (1 - slip) * P + slip * P[:, ::-1], (1 - slip) * R + slip * R[:, ::-1]


class Chain(FiniteMDP):
    """Strens' chain, with rewards scaled to [0, 1] [Strens 2000].

    Action 0 goes one link forward, and at the last link stays there and pays 1. Action 1 returns to the first
    link and pays 0.2. With probability ``slip`` the other action's transition and reward happen instead; the
    reward that is paid is the expectation over that slip.

    Args:
        states: Number of links, at least 2.
        slip: Probability that the other action happens.
        horizon: Suggested episode length.
        coordinates: Observe the link scaled to [0, 1] instead of its number.
    """

    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)  # declared, for certificates

    def __init__(self, states: int = 5, slip: float = 0.2, horizon: int = 20, coordinates: bool = False) -> None:
        states = check_count("states", states, least=2)
        P, R = chain_tables(states, check_probability("slip", slip))
        super().__init__(
            P, R, horizon=horizon, coordinates=np.linspace(0, 1, states)[:, None] if coordinates else None
        )
