"""The planning task: everything that a plan depends on except the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.confidence import Mode, Problem
from cmerl.optimism import Ceilings, ceilings
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]
KnownReward = Callable[[Points], FloatArray]
"""Rewards of all actions at q states (q, A), in the environment's units."""


@dataclass(frozen=True)
class Task:
    """Everything a plan depends on besides the data.

    Attributes:
        problem: sizes, kernels, constants.
        mode: the bonus mode.
        r_min: the smallest reward; rewards count from it.
        optimistic: ceilings on values; None for those of the range of rewards.
        known_reward: the reward function, or None to learn it.
        states: all states (S, d) where they are finitely many, else None.
        with_excess: True to compute the largest excess of Q.
    """

    problem: Problem
    mode: Mode
    r_min: float
    optimistic: Ceilings | None = None
    known_reward: KnownReward | None = None
    states: Points | None = None
    with_excess: bool = False

    @cached_property
    def ceilings(self) -> Ceilings:
        """Ceilings on values at every step."""
        return self.optimistic or ceilings(self.problem.horizon, self.problem.width, r_min=self.r_min)

    @property
    def limited(self) -> bool:
        """Whether ceilings rest on more than the range of rewards."""
        whole = ceilings(self.problem.horizon, self.problem.width, r_min=self.r_min)
        return bool(np.any(self.ceilings.cap < whole.cap))

    @property
    def reward_bonus(self) -> bool:
        """Whether the learned reward is a regression of its own with a bonus of its own."""
        return self.known_reward is None and self.mode.provable

    @property
    def separate_reward(self) -> bool:
        """Whether the reward is no part of the regression targets."""
        return self.known_reward is not None or self.mode.provable

    def cap(self, step: int) -> float:
        """The most that V can be at ``step``."""
        return float(self.ceilings.cap[step])


def clip_value(v: FloatArray, task: Task, step: int, sign: float = 1.0) -> FloatArray:
    """V from max_a Q: to [0, the largest possible remaining return]; the paper's Alg. 1 has min{H, ·} only.

    The paper has no pessimistic plans; clipping them on both sides keeps their norm below B_V.
    """
    if task.mode.literal_algorithm1 and sign > 0:
        return np.minimum(v, task.problem.horizon * task.problem.width)
    return np.minimum(np.maximum(v, 0.0), task.cap(step))  # half the time of np.clip, at every step of every plan
