"""The confidence set, and the error of an estimate for known dynamics."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.embedding import ConditionalMeanEmbedding, ExactEmbedding, KernelEmbedding
from cmerl.embedding.exact.grids import Layout
from cmerl.errors import InputError
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky, largest_eigenvalue
from cmerl.transitions import Points, PointSet, as_points

FloatArray = NDArray[np.float64]


class FiniteDomain:
    """All states and actions of a finite MDP, with the kernels on them.

    Args:
        kernel: k_φ on state-actions.
        value_kernel: k_ψ on states.
        states: all states (S, d).
        actions: all actions (A, d_a).
    """

    def __init__(self, kernel: Kernel, value_kernel: Kernel, states: Points, actions: Points) -> None:
        states, actions = as_points(states, "states"), as_points(actions, "actions")
        S, A = len(states), len(actions)
        self.shape = (S, A, S)
        self.kernel = kernel
        self.Z = Layout(kernel, actions).state_actions(states)
        self.K_psi = value_kernel(states)
        self.precision = Cholesky.of(kernel(self.Z)).solve(np.eye(S * A))  # K_φ⁻¹
        self._states = PointSet()
        self._states.add(states)

    def estimate(self, embedding: KernelEmbedding | ConditionalMeanEmbedding) -> Estimate:
        """The present estimate of an embedding on this domain."""
        seen = self._states.find(embedding.support)
        if np.any(seen < 0):
            raise InputError("the embedding has seen a next state that is not among the given states")
        means = np.zeros((len(self.Z), self.shape[2]))  # Θ̂φ(z) as weights on the states, for every z of the domain
        np.add.at(means.T, seen, embedding.weights(self.Z).T)
        if not isinstance(embedding, ExactEmbedding | ConditionalMeanEmbedding):
            raise InputError(
                "a confidence set needs counts, which only an exact embedding keeps: use backend='exact'"
            )
        counts = embedding.visit_counts(self.Z)
        if counts.sum() != embedding.n:
            raise InputError("the embedding has seen a state-action that is not among the given states and actions")
        return Estimate(self, means, counts, embedding.lam)


class Estimate:
    """Θ̂ on a finite domain. There M = Φᵀdiag(N)Φ + λI, so ‖EM^{1/2}‖ needs only N + λK_φ⁻¹."""

    def __init__(self, domain: FiniteDomain, means: FloatArray, counts: FloatArray, lam: float) -> None:
        self._domain, self._means, self._counts = domain, means, counts
        self._metric = np.diag(counts) + lam * domain.precision

    def distance(self, P: ArrayLike, norm: str = "hs") -> float:
        """‖(Θ_P − Θ̂)M^{1/2}‖ in the Hilbert–Schmidt ("hs") or the operator norm, P (S, A, S)."""
        E = self._rows(P) - self._means
        gram = E.T @ self._metric @ E
        if norm == "hs":
            return math.sqrt(max(float(np.sum(gram * self._domain.K_psi)), 0.0))
        if norm == "operator":
            # Largest eigenvalue of K_ψ^{1/2} gram K_ψ^{1/2}, by a factor of K_ψ on either side.
            C = Cholesky.of(self._domain.K_psi).L
            return math.sqrt(max(largest_eigenvalue(C.T @ gram @ C), 0.0))
        raise InputError(f"norm must be 'hs' or 'operator', not {norm!r}")

    def noise(self, P: ArrayLike) -> float:
        """‖Σ ε_i φ_iᵀ M^{-1/2}‖_HS: the part of the error that is not shrinkage."""
        half = self._half_noise(P)
        return math.sqrt(max(float(np.sum((half @ self._domain.K_psi) * half)), 0.0))

    def value_noise(self, P: ArrayLike, V: FloatArray) -> FloatArray:
        """‖Σ [V(s'_i) − E V(S')] φ_i‖_{M⁻¹} for each of the functions V (k, S) alone (k,)."""
        return np.asarray(np.linalg.norm(self._half_noise(P) @ V.T, axis=0))

    def _half_noise(self, P: ArrayLike) -> FloatArray:
        """Σ ε_i φ_iᵀ in coordinates of the domain: what was seen less what was to be expected (z, s'), whitened."""
        surplus = self._metric @ self._means - self._counts[:, None] * self._rows(P)
        return self._factor.half_solve(surplus)

    @cached_property
    def _factor(self) -> Cholesky:
        return Cholesky.of(self._metric)

    def _rows(self, P: ArrayLike) -> FloatArray:
        P = np.asarray(P, dtype=np.float64)
        if P.shape != self._domain.shape:
            raise InputError(f"P must have shape {self._domain.shape}, not {P.shape}")
        return P.reshape(-1, self._domain.shape[2])


class ConfidenceSet:
    """C_t = {Θ : ‖(Θ − Θ̂)M^{1/2}‖ ≤ radius} on a finite domain [CO22, Eq. confidence-set].

    Args:
        embedding: the estimate Θ̂ with its data.
        radius: β_t.
        value_kernel: k_ψ on states.
        states: all states (S, d).
        actions: all actions (A, d_a).
    """

    def __init__(
        self,
        embedding: KernelEmbedding | ConditionalMeanEmbedding,
        radius: float,
        *,
        value_kernel: Kernel,
        states: Points,
        actions: Points,
    ) -> None:
        self.radius = float(radius)
        self.estimate = FiniteDomain(embedding.kernel, value_kernel, states, actions).estimate(embedding)

    def distance(self, P: ArrayLike, norm: str = "hs") -> float:
        """‖(Θ_P − Θ̂)M^{1/2}‖ in the Hilbert–Schmidt ("hs") or the operator norm, P (S, A, S)."""
        return self.estimate.distance(P, norm)

    def contains(self, P: ArrayLike, norm: str = "hs") -> bool:
        """Whether the operator of the transition distribution P (S, A, S) lies in the set."""
        return self.distance(P, norm) <= self.radius
