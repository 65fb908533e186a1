"""How a plan becomes actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.finite import TablePlan
from cmerl.planning import Plan

FloatArray = NDArray[np.float64]


class EpisodeActor(Protocol):
    """Acts through one episode, and may remember what it has found on the way."""

    def act(self, state: FloatArray, step: int) -> FloatArray:
        """The action (d_a,) at an encoded state (1, d), asked for step after step."""
        ...


class Actor(Protocol):
    """A way to act on plans; it holds no state of its own."""

    def begin_episode(self, plan: Plan | TablePlan, actions: FloatArray, seed: Sequence[int]) -> EpisodeActor:
        """Act on a plan over candidate actions (A, d_a); ``seed`` is for what is drawn."""
        ...
