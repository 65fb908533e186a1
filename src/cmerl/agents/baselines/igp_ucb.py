"""IGP-UCB: kernel bandits, for episodes of one step.

Reference: S. R. Chowdhury, A. Gopalan, "On kernelized multi-armed bandits", ICML 2017, Algorithm 1.

Constants: play the largest μ(z) + β·σ(z) of a Gaussian process with noise variance λ. With ``theory``
β_t = B + R√(2(γ_{t−1} + 1 + log(1/δ))), B ≥ ‖f‖ and R the noise; otherwise β = ``width``·λ^{-1/2}.

Differences: the information gain of the data stands in for γ_{t−1}, its largest possible value; the paper's proof
needs no more. λ = 1 where the paper has 1 + 2/T. The first observation of an episode is a context that the kernel
sees too.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium
import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import FloatArray, at_least_zero
from cmerl.agents.baselines.kernel_agent import KernelAgent
from cmerl.errors import InputError


def igp_radius(information_gain: float, *, norm: float, noise: float, delta: float) -> float:
    """β = B + R√(2(γ + 1 + log(1/δ))) [Chowdhury and Gopalan 2017, Thm 3]."""
    return norm + noise * math.sqrt(2.0 * (information_gain + 1.0 + math.log(1.0 / delta)))


class IGPUCB(KernelAgent):
    """Kernel upper confidence bounds for episodes of one step [Chowdhury and Gopalan 2017].

    Args:
        env: any with finitely many actions, or candidates of them; only its first step is played.
        horizon: 1, which is also the default.
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
        if horizon not in (None, 1):
            raise InputError(f"agent 'igp-ucb' plays episodes of one step: horizon must be 1, not {horizon!r}")
        self.norm, self.noise = at_least_zero("norm", norm), at_least_zero("noise", noise)
        super().__init__(env, horizon=1, **options)

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
