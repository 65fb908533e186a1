"""The empirical transition distribution of a finite MDP, in sparse form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class EmpiricalModel:
    """The empirical distribution of every state-action on the K outcomes that were seen at most after any of them.

    Where only few outcomes follow a state-action, as in a grid, this costs S·A·K instead of S·A·S a step.

    Attributes:
        visits: n, how often each state-action was seen (S, A).
        outcomes: numbers of the states that followed (S, A, K), padded with any; the last state may be an end.
        p: their frequencies (S, A, K), 0 in the padding; all 0 where nothing was seen.
        rewards: mean rewards (S, A), 0 where nothing was seen.
        reward_variances: their empirical variances (S, A).
    """

    visits: FloatArray
    outcomes: IntArray
    p: FloatArray
    rewards: FloatArray
    reward_variances: FloatArray

    @classmethod
    def of(cls, counts: FloatArray, reward_sums: FloatArray, reward_squares: FloatArray) -> EmpiricalModel:
        """The model of counts (S, A, S') and of sums of rewards and of their squares (S, A)."""
        S, A, _ = counts.shape
        visits: FloatArray = counts.sum(axis=2)
        n = np.maximum(visits, 1.0)
        z, after = np.nonzero(counts.reshape(S * A, -1))
        first = np.searchsorted(z, z)  # where the outcomes of each state-action begin
        place = np.arange(len(z)) - first
        K = int(place.max()) + 1 if len(z) else 1
        outcomes, p = np.zeros((S * A, K), dtype=np.intp), np.zeros((S * A, K))
        outcomes[z, place] = after
        p[z, place] = counts.reshape(S * A, -1)[z, after] / n.reshape(-1)[z]
        rewards = reward_sums / n
        variances = np.maximum(reward_squares / n - rewards**2, 0.0)
        return cls(visits, outcomes.reshape(S, A, K), p.reshape(S, A, K), rewards, variances)

    def expect(self, V: FloatArray) -> FloatArray:
        """The mean of V (S',) after each state-action (S, A)."""
        mean: FloatArray = (self.p * V[self.outcomes]).sum(axis=2)
        return mean

    def variance(self, V: FloatArray) -> FloatArray:
        """The variance of V (S',) after each state-action (S, A)."""
        after = V[self.outcomes]
        mean = (self.p * after).sum(axis=2, keepdims=True)
        var: FloatArray = (self.p * (after - mean) ** 2).sum(axis=2)
        return var
