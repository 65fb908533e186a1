"""The confidence set as an object, and RKHS norms on finite state spaces."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.confidence.modes import ValueNorms
from cmerl.embedding import ConditionalMeanEmbedding, Embedding
from cmerl.errors import InputError
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky, largest_eigenvalue
from cmerl.transitions import Points, PointSet, as_points

FloatArray = NDArray[np.float64]


class NormCalculator:
    """‖V‖_ψ and min_c ‖V − c‖_ψ from the values of V on given states: V need not vanish anywhere else.

    The end of an episode is one more state, unlike all others: its feature is a unit vector orthogonal to theirs.
    """

    def __init__(self, value_kernel: Kernel, states: Points) -> None:
        self._factor = Cholesky.of(value_kernel(states))
        self._half_ones = np.append(self._factor.half_solve(np.ones(len(states))), 1.0)

    def __call__(self, v: FloatArray, terminal: float | None = None) -> ValueNorms:
        """Norms of the interpolant of v (S,), and of ``terminal`` at the end of an episode if it can end early."""
        half = np.append(self._factor.half_solve(v), 0.0 if terminal is None else terminal)
        if terminal is None:  # no such state: it takes the constant's value and costs nothing
            half, ones = half[:-1], self._half_ones[:-1]
        else:
            ones = self._half_ones
        centred = half - (ones @ half) / (ones @ ones) * ones
        return ValueNorms(float(np.linalg.norm(half)), float(np.linalg.norm(centred)))


class ConfidenceSet:
    """C_t = {Θ : ‖(Θ − Θ̂)M^{1/2}‖ ≤ radius} on a finite domain [CO22, Eq. confidence-set].

    Args:
        embedding: the estimate Θ̂ with its data.
        radius: β_t.
        states: all states (S, d).
        actions: all actions (A, d_a).
        value_kernel: k_ψ on states.
    """

    def __init__(
        self,
        embedding: Embedding | ConditionalMeanEmbedding,
        radius: float,
        *,
        value_kernel: Kernel,
        states: Points,
        actions: Points,
    ) -> None:
        states, actions = as_points(states, "states"), as_points(actions, "actions")
        S, A = len(states), len(actions)
        Z = np.hstack([np.repeat(states, A, axis=0), np.tile(actions, (S, 1))])
        self.radius = float(radius)
        self.shape = (S, A, S)
        self._K_psi = value_kernel(states)
        # Θ̂φ(z) as weights on the states, for every z of the domain.
        domain = PointSet()
        domain.add(states)
        seen = domain.find(embedding.support)
        if np.any(seen < 0):
            raise InputError("the embedding has seen a next state that is not among the given states")
        self._estimate = np.zeros((S * A, S))
        np.add.at(self._estimate.T, seen, embedding.weights(Z).T)
        # In the domain's own coordinates M = Φᵀdiag(N)Φ + λI, so ‖EM^{1/2}‖ needs only N + λK_φ⁻¹.
        counts = embedding.visit_counts(Z)
        if counts.sum() != embedding.n:
            raise InputError("the embedding has seen a state-action that is not among the given states and actions")
        self._metric = np.diag(counts) + embedding.lam * Cholesky.of(embedding.kernel(Z)).solve(np.eye(S * A))

    def distance(self, P: ArrayLike, norm: str = "hs") -> float:
        """‖(Θ_P − Θ̂)M^{1/2}‖ in the Hilbert–Schmidt ("hs") or the operator norm, P (S, A, S)."""
        P = np.asarray(P, dtype=np.float64)
        if P.shape != self.shape:
            raise InputError(f"P must have shape {self.shape}, not {P.shape}")
        E = P.reshape(-1, self.shape[2]) - self._estimate
        gram = E.T @ self._metric @ E
        if norm == "hs":
            return math.sqrt(max(float(np.sum(gram * self._K_psi)), 0.0))
        if norm == "operator":
            # Largest eigenvalue of K_ψ^{1/2} gram K_ψ^{1/2}, by a factor of K_ψ on either side.
            C = Cholesky.of(self._K_psi).L
            return math.sqrt(max(largest_eigenvalue(C.T @ gram @ C), 0.0))
        raise InputError(f"norm must be 'hs' or 'operator', not {norm!r}")

    def contains(self, P: ArrayLike, norm: str = "hs") -> bool:
        """Whether the operator of the transition law P (S, A, S) lies in the set."""
        return self.distance(P, norm) <= self.radius
