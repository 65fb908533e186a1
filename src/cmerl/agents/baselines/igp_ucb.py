"""IGP-UCB: kernel bandits, for episodes of one step.

Reference: S. R. Chowdhury, A. Gopalan, "On kernelized multi-armed bandits", ICML 2017, Algorithm 1.

Constants: play the largest μ(z) + β·σ(z) of a Gaussian process with noise variance λ. With ``theory``
β_t = B + R√(2(γ_{t−1} + 1 + log(1/δ))), B ≥ ‖f‖ and R the noise; otherwise β = ``width``·λ^{-1/2}.

Differences: the information gain of the data stands in for γ_{t−1}, its largest possible value; the paper's proof
needs no more. λ = 1 where the paper has 1 + 2/T. The observation is a context that the kernel sees too.
Episodes of more than one step are that many rounds: the agent is myopic then.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import FloatArray, at_least_zero
from cmerl.agents.baselines.kernel_agent import KernelAgent


def igp_radius(information_gain: float, *, norm: float, noise: float, delta: float) -> float:
    """β = B + R√(2(γ + 1 + log(1/δ))) [Chowdhury and Gopalan 2017, Thm 3]."""
    return norm + noise * math.sqrt(2.0 * (information_gain + 1.0 + math.log(1.0 / delta)))


class IGPUCB(KernelAgent):
    """Kernel upper confidence bounds on the reward of one step [Chowdhury and Gopalan 2017].

    Args:
        env: with finitely many actions, or candidates of them.
        horizon: 1 by default; with more every step is a round of its own, and what follows it does not count.
        norm: B, a bound on the norm of the reward function, for ``theory``.
        noise: R, the sub-Gaussian constant of a reward scaled to [0, 1], for ``theory``.
        options: as for every agent with a kernel.
    """

    name: ClassVar[str] = "igp-ucb"
    _own: ClassVar[tuple[str, ...]] = (*KernelAgent._own, "norm", "noise")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        horizon: int | None = None,
        norm: float = 1.0,
        noise: float = 0.5,
        **options: Any,
    ) -> None:
        self.norm, self.noise = at_least_zero("norm", norm), at_least_zero("noise", noise)
        super().__init__(env, horizon=1 if horizon is None else horizon, **options)

    def _radius(self) -> float:
        """The factor of σ, with its scale."""
        if not self.theory:
            return self.bonus_scale * self.width / math.sqrt(self.lam)
        beta = igp_radius(self.information_gain, norm=self.norm, noise=self.noise, delta=self.delta)
        return self.bonus_scale * beta

    def _make_policy(self, explore: bool) -> Policy:
        E, radius = self._embeddings[0], self._radius() if explore else 0.0
        coef, view = E.backup(np.zeros(len(E.support))), E.freeze()

        def upper(states: FloatArray, step: int) -> FloatArray:
            grid = view.grid(states)
            return grid.expectation(coef) + radius * grid.std()

        return self._step_policy(upper)
