"""Kernel RLSVI: randomised least-squares value iteration with a kernel.

Reference: I. Osband, B. Van Roy, Z. Wen, "Generalization and exploration via randomized value functions", ICML 2016;
the kernel takes the place of its features.

Constants: Q_h = clip(α(z)ᵀ(r + V_{h+1}) + s·λ^{-1/2}g_h(z), 0, H − h + 1), g_h redrawn for every step and episode
from the Gaussian posterior with covariance k(z, z') − k(z)ᵀ(K + λI)⁻¹k(z'). With ``theory`` λ = 1 and s is the radius
of KOVI: proofs of sampling inflate the posterior by the radius of optimism. Otherwise λ = 0.01 and s = ``width``·(H −
step), with a width of 0.03 that was chosen on random MDPs (docs/evidence/baselines.md, "Bonus scales").

Differences: the function is drawn from the posterior itself, rather than by perturbed data with a random prior, which
has the same law. Q is clipped. Draws are joint on a dictionary of states (see gaussian_draws.py).
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import FloatArray
from cmerl.agents.baselines.kernel_sampling import SamplingAgent
from cmerl.agents.baselines.kovi import kovi_radius
from cmerl.embedding import Coef


class KernelRLSVI(SamplingAgent):
    """Value iteration with a value function drawn from a kernel posterior [Osband et al. 2016].

    Args:
        env: with finitely many actions, or candidates of them.
        width: the practical spread is this times the remaining steps.
        options: as for every agent that draws from a kernel posterior.
    """

    name: ClassVar[str] = "kernel-rlsvi"

    def __init__(self, env: gymnasium.Env[Any, Any], *, width: float = 0.03, **options: Any) -> None:
        super().__init__(env, width=width, **options)

    def _spread(self, step: int) -> float:
        """The factor of what is drawn at ``step``."""
        if not self.theory:
            return self.bonus_scale * self.width * (self.horizon - step)
        episodes = len(self.log) + 1
        beta = kovi_radius(self.information_gain, horizon=self.horizon, episodes=episodes, delta=self.delta)
        return self.bonus_scale * beta

    def _make_policy(self, explore: bool) -> Policy:
        if not explore:
            return self._step_policy(self._upper_plan([0.0] * self.horizon))
        H, root, dictionary = self.horizon, np.sqrt(self.lam), self._landmarks()
        draws, views = self._draws(dictionary, H), [E.freeze() for E in self._embeddings]
        spread = [self._spread(step) / root for step in range(H)]
        coefs: dict[int, Coef] = {}
        grids: dict[tuple[int, bytes], tuple[Any, FloatArray]] = {}  # what does not depend on the step

        def q(states: FloatArray, step: int) -> FloatArray:
            g = self._group(step)
            key = g, states.tobytes()
            if key not in grids:
                grids[key] = views[g].grid(states), draws[g].at(states)
            grid, drawn = grids[key]
            found = grid.expectation(coefs[step]) + spread[step] * drawn[:, :, step]
            return np.asarray(np.clip(found, 0.0, H - step))

        for step in reversed(range(H)):
            E = self._embeddings[self._group(step)]
            support = np.array(E.support, dtype=np.float64)
            v = np.zeros(len(support))
            if step + 1 < H and len(v):
                v = q(support, step + 1).max(axis=1)
            coefs[step] = E.backup(v, terminal=self._terminal(step + 1))
        return self._step_policy(q)
