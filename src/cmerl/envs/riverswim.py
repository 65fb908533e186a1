"""RiverSwim: swimming against the current pays, but only after many steps."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cmerl.envs.finite import FiniteMDP, Floats
from cmerl.validation.numbers import check_count

LEFT, RIGHT = 0, 1


def riverswim_tables(states: int) -> tuple[Floats, Floats]:
    """Transitions (S, 2, S) and rewards (S, 2) of a river with ``states`` positions."""
    P = np.zeros((states, 2, states))
    R = np.zeros((states, 2))
    last = states - 1
    for s in range(states):
        P[s, LEFT, max(s - 1, 0)] = 1.0
    for s in range(1, last):
        P[s, RIGHT, [s - 1, s, s + 1]] = 0.05, 0.6, 0.35
    P[0, RIGHT, [0, 1]] = 0.4, 0.6
    P[last, RIGHT, [last - 1, last]] = 0.4, 0.6
    R[0, LEFT] = 0.005
    R[last, RIGHT] = 1.0
    return P, R


class RiverSwim(FiniteMDP):
    """A river of ``states`` positions, starting at the left bank [Strehl and Littman 2008].

    Action 0 drifts one position left for certain and pays 0.005 at the left bank. Action 1 swims right:
    inside it moves +1 / 0 / −1 with probability .35 / .6 / .05, and at the right bank it pays 1.

    Args:
        states: Number of positions, at least 2.
        horizon: Suggested episode length.
        coordinates: Observe the position scaled to [0, 1] instead of its number.
    """

    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)  # declared, for certificates

    def __init__(self, states: int = 6, horizon: int = 20, coordinates: bool = False) -> None:
        states = check_count("states", states, least=2)
        P, R = riverswim_tables(states)
        super().__init__(
            P, R, horizon=horizon, coordinates=np.linspace(0, 1, states)[:, None] if coordinates else None
        )
