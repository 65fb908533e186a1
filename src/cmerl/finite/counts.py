"""Visit and transition counts of a finite MDP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Arrays = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class FiniteWorld:
    """A finite MDP before any data.

    Attributes:
        states: S.
        actions: A.
        horizon: H.
        r_min: the smallest reward per step; 0 or less where episodes may end early.
        width: the largest reward per step less the smallest.
        ends: whether episodes may end early, which makes one more outcome; after an end 0 is earned a step.
        per_step: whether each step has a transition distribution of its own.
        rewards: mean rewards (S, A) less r_min where they are known, else None.
        reward_bins: learned rewards closer than width/reward_bins are counted together, by the worse of them.
    """

    states: int
    actions: int
    horizon: int
    r_min: float
    width: float
    ends: bool = False
    per_step: bool = False
    rewards: FloatArray | None = None
    reward_bins: int = 128

    @property
    def rows(self) -> int:
        """State-actions, of all steps where each has its own law."""
        return self.states * self.actions * (self.horizon if self.per_step else 1)

    @property
    def outcomes(self) -> int:
        """Number of outcomes: states, and termination."""
        return self.states + self.ends

    def row(self, step: int, state: int, action: int) -> int:
        """The number of a state-action."""
        return ((step if self.per_step else 0) * self.states + state) * self.actions + action

    def cap(self, step: int) -> float:
        """The most that can be left at ``step``, less r_min per step."""
        return (self.horizon - step) * self.width


class Atoms:
    """For each row, the different things that followed: a key, how often, and the least and most it was worth.

    Attributes:
        key: (Z, K), −1 where a row has fewer than K atoms.
        n: how often (Z, K), 0 there.
        low: the least of the rewards counted together (Z, K); likewise ``high``, the most.
    """

    def __init__(self, rows: int) -> None:
        self.key: IntArray = np.full((rows, 1), -1, dtype=np.int64)
        self.n, self.low, self.high = np.zeros((3, rows, 1))
        self._column: list[dict[int, int]] = [{} for _ in range(rows)]

    def add(self, row: int, key: int, reward: float = 0.0) -> None:
        """One more."""
        column = self._column[row].get(key)
        if column is None:
            column = self._column[row][key] = len(self._column[row])
            if column == self.key.shape[1]:
                self._widen()
            self.key[row, column] = key
            self.low[row, column] = self.high[row, column] = reward
        self.n[row, column] += 1.0
        self.low[row, column] = min(self.low[row, column], reward)
        self.high[row, column] = max(self.high[row, column], reward)

    def _widen(self) -> None:
        pad = ((0, 0), (0, self.key.shape[1]))
        self.key = np.pad(self.key, pad, constant_values=-1)
        self.n, self.low, self.high = (np.pad(x, pad) for x in (self.n, self.low, self.high))

    def copy(self) -> Atoms:
        """A copy, unchanged by later additions."""
        return Atoms.of(self.key.copy(), self.n.copy(), self.low.copy(), self.high.copy())

    @classmethod
    def of(cls, key: IntArray, n: FloatArray, low: FloatArray, high: FloatArray) -> Atoms:
        """From the attributes."""
        found = cls(0)
        found.key, found.n, found.low, found.high = key, n, low, high
        found._column = [{int(k): i for i, k in enumerate(row) if k >= 0} for row in key]
        return found

    def arrays(self) -> FloatArray:
        """All of it as one array (4, Z, K), for saving."""
        return np.stack([self.key.astype(np.float64), self.n, self.low, self.high])


class Counts:
    """The counts of a finite MDP.

    Args:
        world: it.

    Attributes:
        outcomes: next states, or an end (number S), of every row.
        joint: pairs of an outcome and a reward, where rewards are learned; else None.
        paid: rewards alone, where they are learned; else None.
    """

    def __init__(self, world: FiniteWorld) -> None:
        self.world = world
        self.outcomes = Atoms(world.rows)
        self.joint = Atoms(world.rows) if world.rewards is None else None
        self.paid = Atoms(world.rows) if world.rewards is None else None

    @property
    def visits(self) -> FloatArray:
        """How often each row was tried (Z,)."""
        seen: FloatArray = self.outcomes.n.sum(axis=1)
        return seen

    def add(self, step: int, state: int, action: int, reward: float, next_state: int, *, ended: bool) -> None:
        """One transition; the reward is in the environment's units."""
        world = self.world
        if ended and not world.ends:
            raise InputError("an episode terminated early although none was expected to")
        row, outcome = world.row(step, state, action), world.states if ended else next_state
        self.outcomes.add(row, outcome)
        if self.joint is None or self.paid is None:
            return
        shifted = min(max(reward - world.r_min, 0.0), world.width)
        bins = world.reward_bins
        level = int(bins * shifted / world.width) if world.width > 0.0 else 0
        self.joint.add(row, outcome * (bins + 1) + level, shifted)
        self.paid.add(row, level, shifted)

    def copy(self) -> Counts:
        """A copy, unchanged by later additions."""
        found = Counts.__new__(Counts)
        found.world, found.outcomes = self.world, self.outcomes.copy()
        found.joint = None if self.joint is None else self.joint.copy()
        found.paid = None if self.paid is None else self.paid.copy()
        return found

    def arrays(self) -> Arrays:
        """All of it, for saving."""
        parts = {"outcomes": self.outcomes, "joint": self.joint, "paid": self.paid}
        return {name: atoms.arrays() for name, atoms in parts.items() if atoms is not None}

    @classmethod
    def from_arrays(cls, world: FiniteWorld, arrays: Arrays) -> Counts:
        """The inverse of ``arrays``."""
        found = cls(world)
        atoms = {name: Atoms.of(x[0].astype(np.int64), *x[1:].copy()) for name, x in arrays.items()}
        found.outcomes, found.joint, found.paid = atoms["outcomes"], atoms.get("joint"), atoms.get("paid")
        return found
