"""Kernel smoothing of rewards and next states: weighted sums at all data or at a few representatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from cmerl.growing import GrowingMatrix

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class SmoothedModel:
    """Estimates at points, by action.

    Attributes:
        points: (p_a, d) for every action.
        weights: C = β + Σw (p_a,) for every action.
        rewards: Σw·r (p_a,) for every action.
        nexts: Σw by next state (p_a, m) for every action.
        ends: Σw of transitions that ended the episode (p_a,) for every action.
    """

    points: list[FloatArray]
    weights: list[FloatArray]
    rewards: list[FloatArray]
    nexts: list[FloatArray]
    ends: list[FloatArray]

    def expectation(self, action: int, v: FloatArray, terminal: float) -> FloatArray:
        """(Σw(r + V(s')))/C (p_a,) for V at the next states (m,) and at an end."""
        sums = self.nexts[action]
        total = self.rewards[action] + sums @ v[: sums.shape[1]] + terminal * self.ends[action]
        return np.asarray(total / self.weights[action])


class Samples(Protocol):
    """Transitions as a smoother keeps them."""

    def __len__(self) -> int: ...

    def add(self, states: FloatArray, actions: IntArray, rewards: FloatArray, next_ids: IntArray) -> None:
        """Add k transitions; −1 stands for an end."""
        ...

    def represent(self, points: FloatArray) -> None:
        """Keep sums at these points, which continue those given before."""
        ...

    def freeze(self, prior: float) -> SmoothedModel:
        """Estimates of now, with the prior weight β."""
        ...


class Smoother:
    """Sums of smoothing weights, kept up to date as data and points come.

    Args:
        actions: how many.
        dims: columns of a state.
        bandwidth: of the Gaussian weights.
        representatives: sums are kept at points given by ``represent``; otherwise at the data themselves. A new
            representative starts with what the others know nothing of: data from before it came are not seen again.
    """

    def __init__(self, actions: int, dims: int, bandwidth: float, *, representatives: bool = False) -> None:
        self._bandwidth, self._representatives = bandwidth, representatives
        self._points: list[FloatArray] = [np.empty((0, dims)) for _ in range(actions)]
        self._weights: list[FloatArray] = [np.zeros(0) for _ in range(actions)]
        self._rewards: list[FloatArray] = [np.zeros(0) for _ in range(actions)]
        self._ends: list[FloatArray] = [np.zeros(0) for _ in range(actions)]
        self._nexts = [GrowingMatrix() for _ in range(actions)]
        # All data by action, for points that come later: equal states are one row with sums of its own.
        self._seen: list[list[tuple[FloatArray, float, int]]] = [[] for _ in range(actions)]

    def __len__(self) -> int:
        return sum(len(points) for points in self._points)

    def represent(self, points: FloatArray) -> None:
        """Keep sums at these points too."""
        for a in range(len(self._points)):
            self._extend(a, points[len(self._points[a]) :])

    def add(self, states: FloatArray, actions: IntArray, rewards: FloatArray, next_ids: IntArray) -> None:
        """Add k transitions in order."""
        for state, a, reward, next_id in zip(states, actions, rewards, next_ids, strict=True):
            if not self._representatives and not self._has(a, state):
                self._extend(a, state[None])
            w = self._weight(self._points[a], state[None])[:, 0]
            self._weights[a] += w
            self._rewards[a] += w * reward
            if next_id < 0:
                self._ends[a] += w
            else:
                sums = self._nexts[a]
                sums.resize(len(w), max(sums.shape[1], int(next_id) + 1))[:, next_id] += w
            if not self._representatives:
                self._seen[a].append((state, float(reward), int(next_id)))

    def freeze(self, prior: float) -> SmoothedModel:
        """Copies of all sums; points without any weight are left out."""
        keep = [weights > 0.0 for weights in self._weights]
        both = list(zip(range(len(keep)), keep, strict=True))
        return SmoothedModel(
            [self._points[a][k] for a, k in both],
            [prior + self._weights[a][k] for a, k in both],
            [self._rewards[a][k] for a, k in both],
            [self._nexts[a].view[k] for a, k in both],
            [self._ends[a][k] for a, k in both],
        )

    def _has(self, a: int, state: FloatArray) -> bool:
        points = self._points[a]
        return bool(len(points) and (points == state).all(axis=1).any())

    def _extend(self, a: int, points: FloatArray) -> None:
        """New points, with the sums that the data before them give."""
        if not len(points):
            return
        old = len(self._points[a])
        self._points[a] = np.vstack([self._points[a], points])
        for sums in (self._weights, self._rewards, self._ends):
            sums[a] = np.concatenate([sums[a], np.zeros(len(points))])
        nexts = self._nexts[a].resize(old + len(points), self._nexts[a].shape[1])
        if not self._seen[a]:
            return
        states = np.array([state for state, _, _ in self._seen[a]])
        rewards = np.array([reward for _, reward, _ in self._seen[a]])
        ids = np.array([next_id for _, _, next_id in self._seen[a]], dtype=np.intp)
        w = self._weight(points, states)
        self._weights[a][old:], self._rewards[a][old:] = w.sum(axis=1), w @ rewards
        self._ends[a][old:] = w[:, ids < 0].sum(axis=1)
        alive = ids >= 0
        np.add.at(nexts[old:].T, ids[alive], w[:, alive].T)

    def _weight(self, points: FloatArray, states: FloatArray) -> FloatArray:
        """Smoothing weights (p, k)."""
        return np.asarray(np.exp(-0.5 * cdist(points, states, "sqeuclidean") / self._bandwidth**2))
