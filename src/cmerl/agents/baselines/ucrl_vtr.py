"""UCRL-VTR: value-targeted regression for linear mixtures of known transition distributions.

Reference: A. Ayoub, Z. Jia, C. Szepesvári, M. Wang, L. F. Yang, "Model-based reinforcement learning with
value-targeted regression", ICML 2020; the linear form with a bonus is that of Z. Jia, L. F. Yang, C. Szepesvári, M.
Wang, L4DC 2020.

The law is P(s' | z) = Σ_j θ_j P_j(s' | z) with known P_j. For the plan V of the episode, x_h = (P_j V_{h+1}(z_h))_j
predicts y_h = V_{h+1}(s_{h+1}); θ̂ = M⁻¹Σxy with M = λI + Σxxᵀ, and Q_h = r + θ̂ᵀx(z) + radius·‖x(z)‖_{M⁻¹}, at most
the remaining steps.

Constants: λ = 1. With ``theory`` the radius is √λ‖θ‖ + (H/2)√(2 log(1/δ) + log det(M/λ)), ‖θ‖ ≤ ``norm``, the
self-normalised bound that the paper rests on. Otherwise it is ``width``·√d.

Differences: the best law of the confidence set at every step separately, which is what the bonus means, rather than
one for all steps. Rewards are learned, as means with a bonus of their own. An end is a next state of its own. Without
known P_j every transition (s, a, s') has one, which is the tabular case and needs S²A numbers.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import EpisodeData, FloatArray, positive
from cmerl.agents.baselines.finite_features import FiniteFeatureAgent
from cmerl.errors import InputError
from cmerl.linalg import Cholesky


class UCRLVTR(FiniteFeatureAgent):
    """Value-targeted regression for linear mixtures of known transition distributions [Ayoub et al. 2020].

    Args:
        env: with Discrete observations and actions.
        basis: the known laws P_j (d, S, A, S); None for those that the environment exposes, else one a transition.
        norm: a bound on ‖θ‖, for ``theory``.
        most: largest number of mixed laws that is accepted.
        options: as for every agent with features of a finite MDP.
    """

    name: ClassVar[str] = "ucrl-vtr"
    _own: ClassVar[tuple[str, ...]] = (*FiniteFeatureAgent._own, "norm", "most")
    _tables: ClassVar[tuple[str, ...]] = ("basis",)

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        basis: ArrayLike | None = None,
        norm: float = 1.0,
        most: int = 1000,
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        S, A = self._sizes
        self.norm, self.most = positive("norm", norm), int(most)
        found = self._table("basis", basis, (None, S, A, S))
        size = S * A * S if found is None else len(found)
        if size > self.most:
            raise InputError(
                f"agent 'ucrl-vtr' would mix {size} laws, more than most={most}: pass a smaller basis (d, S, A, S)"
            )
        self.basis: FloatArray = np.eye(size).reshape(size, S, A, S) if found is None else found
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        self.M: FloatArray = self.lam * np.eye(len(self.basis))
        self.xy: FloatArray = np.zeros(len(self.basis))

    def _learn(self, data: EpisodeData) -> None:
        _, values = self._plan(explore=True)  # of the episode that was played: nothing was learned since
        s, a, after = self._count(data)
        S = self._sizes[0]
        for step in range(len(data)):
            if after[step] == S:  # the mixture is about states, and an end is none
                continue
            x = self.basis[:, s[step], a[step]] @ values[step + 1]
            self.M += np.outer(x, x)
            self.xy += x * values[step + 1, after[step]]

    @property
    def theta(self) -> FloatArray:
        """θ̂ (d,)."""
        return Cholesky.of(self.M).solve(self.xy)

    def _plan(self, explore: bool) -> tuple[FloatArray, FloatArray]:
        """Q (H, S, A) and V (H+1, S)."""
        (S, A), H, d = self._sizes, self.horizon, len(self.basis)
        n = np.maximum(self.counts.sum(axis=2), 1.0)
        ends = self.counts[:, :, S] / n
        factor = Cholesky.of(self.M)
        theta, radius = factor.solve(self.xy), self.radius(factor) if explore else 0.0
        reward, Q, V = self._reward(explore), np.zeros((H, S, A)), np.zeros((H + 1, S))
        flat = self.basis.reshape(d * S * A, S)
        for step in reversed(range(H)):
            x = (flat @ V[step + 1]).reshape(d, S * A)
            later = theta @ x
            if radius and step + 1 < H:
                later = later + radius * np.sqrt(factor.quadratic(x))
            later = np.clip(later.reshape(S, A), 0.0, H - step - 1)
            Q[step] = np.minimum(reward + (1.0 - ends) * later + ends * self._terminal(step + 1), H - step)
            V[step] = Q[step].max(axis=1)
        return Q, V

    def radius(self, factor: Cholesky) -> float:
        """The factor of ‖x‖_{M⁻¹}, with its scale."""
        d = len(self.basis)
        if not self.theory:
            return self.bonus_scale * self.width * math.sqrt(d)
        gain = factor.log_det - d * math.log(self.lam)
        noise = 0.5 * self.horizon * math.sqrt(2.0 * math.log(1.0 / self.delta) + gain)
        return self.bonus_scale * (math.sqrt(self.lam) * self.norm + noise)

    def _make_policy(self, explore: bool) -> Policy:
        Q, _ = self._plan(explore)
        return self._step_policy(lambda states, step: Q[step, self._numbers(states)])

    def _report(self) -> dict[str, Any]:
        return {"mixed laws": len(self.basis)}
