"""Posterior sampling on the conditional mean embedding: plan in a sampled transition operator.

Reference: posterior sampling is that of I. Osband, D. Russo, B. Van Roy, "(More) efficient reinforcement learning via
posterior sampling", NeurIPS 2013; the embedding is the conditional mean embedding of the project's paper.

The draw: one operator for the whole episode. With landmark states s̄_1 … s̄_m and V̄ the mean of V over them,

    P̃V(z) = V̄ + α(z)ᵀ(V(s') − V̄) + s·λ^{-1/2} Σ_j g_j(z) (V(s̄_j) − V̄)/√m,     r̃(z) = clip(α(z)ᵀr +
    s_r·λ^{-1/2}g_0(z), 0, 1)

with g_0 … g_m independent draws from the Gaussian posterior with covariance k(z, z') − k(z)ᵀ(K + λI)⁻¹k(z'). So the
error of the embedding is Gaussian with the posterior's covariance in z and that of the landmarks in the space of next
states, and where there are no data a state leads anywhere.

Constants: s = 0.3·``bonus_scale`` and s_r = s·½, ½ being the sub-Gaussian constant of a reward in [0, 1], at
λ = 0.01; 0.3 was chosen on random MDPs (docs/evidence/baselines.md, "Bonus scales"). With ``theory`` λ = 1, and in
the place of 0.3 is √(2(G + log(1/δ))), G the information gain, as the proof of kernel Thompson sampling [Chowdhury
and Gopalan 2017] inflates its posterior.

Differences: no paper has this agent with a joint operator draw; it carries no proof. Draws are joint on a dictionary
of states and keep the variance outside of it (see gaussian_draws.py).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import FloatArray
from cmerl.agents.baselines.kernel_sampling import SamplingAgent
from cmerl.embedding import Coef

PRACTICAL_SPREAD = 0.3  # of the posterior's own deviation


class EmbeddingSampling(SamplingAgent):
    """Posterior sampling of the transition operator on the conditional mean embedding."""

    name: ClassVar[str] = "cme-ps"
    fixed_options: ClassVar[tuple[str, ...]] = ("width",)  # the spread is that of values, not a radius

    def _spread(self) -> float:
        """The factor of what is drawn, λ^{-1/2} included."""
        inflation = math.sqrt(2.0 * (self.information_gain + math.log(1.0 / self.delta)))
        return self.bonus_scale * (inflation if self.theory else PRACTICAL_SPREAD) / math.sqrt(self.lam)

    def _make_policy(self, explore: bool) -> Policy:
        H, landmarks = self.horizon, self._landmarks()
        m, views = len(landmarks), [E.freeze() for E in self._embeddings]
        spread = self._spread() if explore else 0.0
        draws = self._draws(landmarks, m + 1) if spread else []
        rewards = [E.backup(np.zeros(len(E.support)), reward=1.0) for E in self._embeddings]
        stages: dict[int, tuple[Coef, float, FloatArray]] = {}
        known: dict[tuple[int, bytes], tuple[Any, FloatArray | None, FloatArray]] = {}  # the same at all steps

        def q(states: FloatArray, step: int) -> FloatArray:
            g, (coef, centre, direction) = self._group(step), stages[step]
            key = g, states.tobytes()
            if key not in known:
                grid, drawn = views[g].grid(states), draws[g].at(states) if spread else None
                reward = grid.expectation(rewards[g])
                if drawn is not None:
                    reward = reward + 0.5 * spread * drawn[:, :, 0]
                known[key] = grid, drawn, np.clip(reward, 0.0, 1.0)
            grid, drawn, reward = known[key]
            later = centre + grid.expectation(coef)
            if drawn is not None and m:
                later = later + spread * drawn[:, :, 1:] @ direction
            return np.asarray(reward + np.clip(later, 0.0, H - step - 1))

        v_landmarks, centre = np.zeros(m), 0.0
        for step in reversed(range(H)):
            E = self._embeddings[self._group(step)]
            support = np.array(E.support, dtype=np.float64)
            v = np.zeros(len(support))
            if step + 1 < H:
                v = q(support, step + 1).max(axis=1) if len(v) else v
                v_landmarks = q(landmarks, step + 1).max(axis=1) if m else v_landmarks
                centre = float(v_landmarks.mean()) if m else 0.0
            coef = E.backup(v - centre, reward=0.0, terminal=self._terminal(step + 1) - centre)
            stages[step] = coef, centre, (v_landmarks - centre) / math.sqrt(max(m, 1))
        return self._step_policy(q)
