"""Joint samples from the posterior of a kernel regression, with the variance outside the dictionary.

The posterior covariance is c(z, z') = k(z, z') − k(z)ᵀ(K + λI)⁻¹k(z'). A sample is joint on a dictionary of
state-actions. Other states are sampled conditionally on the dictionary, all actions of a state together, so each
state has the right distribution jointly with the dictionary and no variance is lost. Two states outside the
dictionary are correlated only through it. A sample is a function: it does not depend on the order of queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.regression import RidgeRegression, Snapshot
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky, pivoted_cholesky

FloatArray = NDArray[np.float64]
Branch = Callable[..., np.random.Generator]


class PosteriorCovariance:
    """c(z, z') of a kernel ridge regression on the state-actions seen so far."""

    def __init__(self, kernel: Kernel, lam: float) -> None:
        self._regression = RidgeRegression(kernel, lam)

    def update(self, Z: FloatArray) -> None:
        """Add state-actions (k, d)."""
        self._regression.append(Z, np.full(len(Z), -1, dtype=np.intp), np.zeros(len(Z)))

    def freeze(self) -> FrozenCovariance:
        """As it is now, unchanged by later state-actions."""
        return FrozenCovariance(self._regression.snapshot())


@dataclass(frozen=True)
class FrozenCovariance:
    """c(z, z') of one moment."""

    regression: Snapshot

    @property
    def kernel(self) -> Kernel:
        """The prior covariance k."""
        return self.regression.kernel

    def between(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """C (n, m) between state-actions X (n, d) and Y (m, d)."""
        prior = self.kernel(X, Y)
        if not len(self.regression.ids):
            return prior
        left = self._half(X)
        return np.asarray(prior - left.T @ (left if Y is X else self._half(Y)))

    def _half(self, X: FloatArray) -> FloatArray:
        """L⁻¹k(rows, X) (rows, n)."""
        now = self.regression
        return now.factor.half_solve(self.kernel(now.points, X)[now.ids])


class GaussianDraw:
    """Independent functions g_1 … g_k with covariance c, drawn once.

    Args:
        covariance: c.
        dictionary: states on which the draw is joint (m, d).
        actions: rows of all actions (A, d_a).
        count: k.
        rng: a generator for each key, a branch of the tree of seeds; the same key gives the same generator.
        rounding: of k(z, z): a variance below this is rounding, not doubt.
    """

    def __init__(
        self,
        covariance: FrozenCovariance,
        dictionary: FloatArray,
        actions: FloatArray,
        count: int,
        rng: Branch,
        *,
        rounding: float = 1e-9,
    ) -> None:
        self._rounding = rounding
        self._covariance, self._actions, self._count, self._rng = covariance, actions, count, rng
        self._places = {state.tobytes(): i for i, state in enumerate(dictionary)}
        self._Z = state_actions(dictionary, actions)
        self._latest: dict[bytes, FloatArray] = {}
        if len(self._Z):
            scale = float(np.max(covariance.kernel.diag(self._Z)))
            self._factor = Cholesky.of(covariance.between(self._Z, self._Z), self._rounding * scale)
            self._normal = rng().standard_normal((len(self._Z), count))
            self._values = self._factor.L @ self._normal

    def at(self, states: FloatArray) -> FloatArray:
        """Values (q, A, k) at states (q, d) and all actions."""
        A = len(self._actions)
        out = np.empty((len(states), A, self._count))
        places = np.array([self._places.get(state.tobytes(), -1) for state in states], dtype=np.intp)
        known = np.flatnonzero(places >= 0)
        if known.size:
            out[known] = self._values.reshape(-1, A, self._count)[places[known]]
        for i in np.flatnonzero(places < 0):
            key = states[i].tobytes()
            if key not in self._latest:
                self._latest[key] = self._outside(states[i : i + 1])
            out[i] = self._latest[key]
        return out

    def _outside(self, state: FloatArray) -> FloatArray:
        """Values (A, k) at a state (1, d) that is not in the dictionary, given those that are."""
        Z = state_actions(state, self._actions)
        rest, mean = self._covariance.between(Z, Z), np.zeros((len(Z), self._count))
        if len(self._Z):
            half = self._factor.half_solve(self._covariance.between(self._Z, Z))
            mean, rest = half.T @ self._normal, rest - half.T @ half
        floor = self._rounding * float(np.max(self._covariance.kernel.diag(Z)))
        own = self._rng(*np.frombuffer(state.tobytes(), dtype=np.uint32).tolist())
        return mean + Cholesky.of(rest, floor).L @ own.standard_normal(mean.shape)


def state_actions(states: FloatArray, actions: FloatArray) -> FloatArray:
    """All pairs (q·A, d + d_a), actions running fastest."""
    return np.hstack([np.repeat(states, len(actions), axis=0), np.tile(actions, (len(states), 1))])


def spread_states(kernel: Kernel, states: FloatArray, actions: FloatArray, most: int) -> FloatArray:
    """At most ``most`` of the states (n, d), each time the one that the others say least about."""
    if len(states) <= most:
        return states
    _, chosen = pivoted_cholesky(kernel(state_actions(states, actions[:1])), 1e-10, most)
    return states[chosen]
