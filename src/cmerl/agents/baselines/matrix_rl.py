"""MatrixRL: optimism about the core matrix of a bilinear transition distribution.

Reference: L. F. Yang, M. Wang, "Reinforcement learning in feature space: matrix bandit, kernels, and regret bound",
ICML 2020 (preprint 2019), Algorithm 1.

The law is P(s' | z) = φ(z)ᵀMψ(s') with known φ and ψ. With A = λI + Σφφᵀ and K_ψ = Σ_s ψ(s)ψ(s)ᵀ the estimate is
M̂ = A⁻¹ Σφ_i ψ(s'_i)ᵀK_ψ⁻¹, and Q_h = r + φᵀM̂ΨᵀV_{h+1} + radius·‖φ‖_{A⁻¹}, at most the remaining steps.

Constants: λ = 1. With ``theory`` the radius is 2H√(d·β), β = d·log(1 + t·H) for the t-th episode: the Frobenius ball
of the paper with its constants C_φ, C_ψ, C_M and c set to 1. Otherwise it is ``width``·(H − step).

Differences: rewards are learned, as means of each state-action with a bonus of their own; t stands for the number of
all episodes. The end of an episode is a next state with a feature of its own. Without features they are one-hot, and
φᵀM̂ψ(s') = N(z, s')/(N(z) + λ).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import EpisodeData, FloatArray
from cmerl.agents.baselines.finite_features import FiniteFeatureAgent
from cmerl.errors import InputError
from cmerl.linalg import Cholesky, solve_small, spectrum


def matrix_rl_radius(size: int, *, horizon: int, episodes: int) -> float:
    """2H√(dβ) with β = d·log(1 + tH) [Yang and Wang 2020, Thm 1], its constants set to 1."""
    return 2.0 * horizon * size * math.sqrt(math.log(1.0 + episodes * horizon))


class MatrixRL(FiniteFeatureAgent):
    """Optimism about the core matrix of a bilinear transition distribution [Yang and Wang 2020].

    Args:
        env: with Discrete observations and actions.
        phi: features of state-actions (S, A, d); None for those that the environment exposes, else one-hot.
        psi: features of next states (S, d'), of full column rank; None as for ``phi``.
        options: as for every agent with features of a finite MDP.
    """

    name: ClassVar[str] = "matrix-rl"
    _tables: ClassVar[tuple[str, ...]] = ("phi", "psi")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        phi: ArrayLike | None = None,
        psi: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        S, A = self._sizes
        found = self._table("phi", phi, (S, A, None))
        self.phi: FloatArray = np.eye(S * A).reshape(S, A, -1) if found is None else found
        found = self._table("psi", psi, (S, None))
        self.psi: FloatArray = np.eye(S) if found is None else found
        values, _ = spectrum(self.psi.T @ self.psi)
        if values[-1] <= 1e-12 * values[0]:
            raise InputError("psi must have full column rank: leave out features that others already hold")
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        size = self.phi.shape[2]
        self.one_hot = size == self.phi.shape[0] * self.phi.shape[1] and bool(
            (self.phi.reshape(size, size) == np.eye(size)).all()
        )
        self.A: FloatArray = self.lam * np.eye(size)

    def _learn(self, data: EpisodeData) -> None:
        s, a, _ = self._count(data)
        chosen = self.phi[s, a]
        self.A += chosen.T @ chosen

    def core(self) -> FloatArray:
        """M̂ (d, d')."""
        S, A = self._sizes
        sums = self._gather(self.counts[:, :, :S].reshape(S * A, S) @ self.psi)
        inverse = solve_small(self.psi.T @ self.psi, np.eye(self.psi.shape[1]))
        return np.asarray(self._solve(sums) @ inverse)

    def _gather(self, X: FloatArray) -> FloatArray:
        """ΦᵀX for X (S·A, q)."""
        return X if self.one_hot else np.asarray(self.phi.reshape(len(X), -1).T @ X)

    def _read(self, X: FloatArray) -> FloatArray:
        """ΦX for X (d, q)."""
        return X if self.one_hot else np.asarray(self.phi.reshape(-1, len(X)) @ X)

    def _widths(self) -> FloatArray:
        """‖φ‖_{A⁻¹} at every state-action (S·A,)."""
        if self.one_hot:
            return np.asarray(1.0 / np.sqrt(np.diagonal(self.A)))
        return np.asarray(np.sqrt(Cholesky.of(self.A).quadratic(self.phi.reshape(-1, len(self.A)).T)))

    def _solve(self, B: FloatArray) -> FloatArray:
        """A⁻¹B, where A is diagonal without a factorisation."""
        if self.one_hot:
            return np.asarray(B / np.diagonal(self.A)[:, None])
        return Cholesky.of(self.A).solve(B)

    def _make_policy(self, explore: bool) -> Policy:
        (S, A), H = self._sizes, self.horizon
        law = (self._read(self.core()) @ self.psi.T).reshape(S, A, S)
        ends = self._read(self._solve(self._gather(self.counts[:, :, S].reshape(S * A, 1)))).reshape(S, A)
        width = self._widths().reshape(S, A) if explore else np.zeros((S, A))
        reward, Q = self._reward(explore), np.zeros((H, S, A))
        v = np.zeros(S)
        for step in reversed(range(H)):
            later = law @ v + self._terminal(step + 1) * ends
            Q[step] = np.clip(reward + later + self._radius(step) * width, 0.0, H - step)
            v = Q[step].max(axis=1)
        return self._step_policy(lambda states, step: Q[step, self._numbers(states)])

    def _radius(self, step: int) -> float:
        """The factor of ‖φ‖_{A⁻¹} at ``step``, with its scale."""
        if not self.theory:
            return self.bonus_scale * self.width * (self.horizon - step)
        episodes = len(self.log) + 1
        return self.bonus_scale * matrix_rl_radius(self.phi.shape[2], horizon=self.horizon, episodes=episodes)

    def _report(self) -> dict[str, Any]:
        return {"features": self.phi.shape[2], "features of next states": self.psi.shape[1]}
