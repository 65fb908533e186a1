"""Kernel-UCBVI: optimistic value iteration with kernel smoothing, exact and with representative states.

Reference: O. D. Domingues, P. Ménard, M. Pirotta, E. Kaufmann, M. Valko, "Kernel-based reinforcement learning: a
finite-time analysis", ICML 2021, Algorithm 1, and its version with representative states.

Constants: weights w_i(s, a) = exp(−‖s − s_i‖²/(2·bandwidth²)) where a_i = a, C = β + Σw_i with β = ``prior_weight``,
estimates r̂ = Σw_i r_i/C and P̂V = Σw_i V(s'_i)/C, and Q̃ = r̂ + P̂V + bonus at the data. Between them Q is the
Lipschitz interpolation min_i Q̃(s_i, a) + L_h‖s − s_i‖ with L_h = ``lipschitz``·(H − step), and never above the steps
that are left. The bonus is

    scale·[(H − step)·(√(v/C) + β/C) + ``lipschitz``·(H − step)·bandwidth]

With ``theory`` v = 2 log(6·H·t/δ), for the t-th episode: the paper's v without its covering numbers, which it gives
only up to constants. Otherwise v = ``width``² and the term of the bandwidth is left out.

Differences: one distance on states and the indicator on actions; data of all steps are pooled unless
``time_homogeneous`` is False. "rs-kernel-ucbvi" keeps sums at representative states, at least ``radius`` apart, found
as states are met: an episode then costs the same however many came before.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from scipy.spatial.distance import cdist

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import (
    EncodedAgent,
    EpisodeData,
    FloatArray,
    at_least_zero,
    one_law,
    positive,
)
from cmerl.agents.baselines.smoothing import Samples, Smoother
from cmerl.transitions import PointSet


class KernelUCBVI(EncodedAgent):
    """Optimistic value iteration with kernel smoothing and Lipschitz interpolation [Domingues et al. 2021].

    Args:
        env: with finitely many actions, or candidates of them.
        bandwidth: of the Gaussian smoothing weights, on observations scaled to [0, 1].
        prior_weight: β, added to the weights of the data.
        lipschitz: Lipschitz constant of Q for each step that is left; infinite leaves Q at the remaining steps off
            the data.
        width: the practical bonus is this times the remaining steps, over the root of the weight.
        time_homogeneous: whether all steps share their data; "auto" does unless ``theory``.
        options: as for every agent with features.
    """

    name: ClassVar[str] = "kernel-ucbvi"
    _own: ClassVar[tuple[str, ...]] = ("bandwidth", "prior_weight", "lipschitz", "width", "time_homogeneous")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        bandwidth: float = 0.05,
        prior_weight: float = 0.01,
        lipschitz: float = 10.0,
        width: float = 0.1,
        time_homogeneous: bool | Literal["auto"] = "auto",
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        self.bandwidth = positive("bandwidth", bandwidth)
        self.prior_weight = positive("prior_weight", prior_weight)
        self.lipschitz = at_least_zero("lipschitz", lipschitz)
        self.width = at_least_zero("width", width)
        self.time_homogeneous = one_law(time_homogeneous, self.theory)
        self._begin()

    def _begin(self) -> None:
        groups = 1 if self.time_homogeneous else self.horizon
        self.support = PointSet()  # states at which V must be known
        self._samples: list[Samples] = [self._new_samples() for _ in range(groups)]

    def _new_samples(self) -> Samples:
        return Smoother(len(self.actions), self.states.dims, self.bandwidth)

    def _learn(self, data: EpisodeData) -> None:
        chosen = self._index(data.actions)
        ids = self._place(data)
        ids[data.terminated] = -1
        if self.time_homogeneous:
            self._samples[0].add(data.states, chosen, data.rewards, ids)
            return
        for step in range(len(data)):
            one = slice(step, step + 1)
            self._samples[step].add(data.states[one], chosen[one], data.rewards[one], ids[one])

    def _place(self, data: EpisodeData) -> Any:
        """Numbers of the next states among those at which V is kept (k,)."""
        return self.support.add(data.next_states)

    def bonus(self, weight: FloatArray, step: int) -> FloatArray:
        """The bonus where the weights, the prior one included, sum to ``weight``."""
        left, episodes = self.horizon - step, len(self.log) + 1
        v = 2.0 * math.log(6.0 * self.horizon * episodes / self.delta) if self.theory else self.width**2
        bias = self.lipschitz * left * self.bandwidth if self.theory else 0.0
        return self.bonus_scale * (left * (np.sqrt(v / weight) + self.prior_weight / weight) + bias)

    def _make_policy(self, explore: bool) -> Policy:
        H, beta = self.horizon, self.prior_weight
        support = np.array(self.support.points, dtype=np.float64).reshape(-1, self.states.dims)
        models = [samples.freeze(beta) for samples in self._samples]
        upper: dict[int, list[FloatArray]] = {}  # Q̃ at the data of each action
        distances: dict[tuple[int, bytes], list[FloatArray]] = {}

        def q(states: FloatArray, step: int) -> FloatArray:
            g, left = min(step, len(models) - 1), H - step
            key = g, states.tobytes()
            if key not in distances:
                distances[key] = [cdist(states, points) for points in models[g].points]
            found = np.full((len(states), len(self.actions)), float(left) if explore else 0.0)
            for a, (values, far) in enumerate(zip(upper[step], distances[key], strict=True)):
                if not len(values):
                    continue
                if explore:
                    slope = np.where(far > 0.0, self.lipschitz * left * far, 0.0)
                    found[:, a] = np.minimum((values + slope).min(axis=1), left)
                else:  # what is known nearest by
                    found[:, a] = values[far.argmin(axis=1)]
            return found

        v = np.zeros(len(support))
        for step in reversed(range(H)):
            model = models[min(step, len(models) - 1)]
            upper[step] = []
            for a, weight in enumerate(model.weights):
                values = model.expectation(a, v, self._terminal(step + 1))
                bonus = self.bonus(weight, step) if explore else 0.0
                upper[step].append(np.clip(values + bonus, 0.0, H - step))
            if step and len(v):
                v = q(support, step).max(axis=1)
        distances.clear()
        return self._step_policy(q)

    def _report(self) -> dict[str, Any]:
        return {"states kept": len(self.support), "points kept": sum(len(samples) for samples in self._samples)}


class RepresentativeKernelUCBVI(KernelUCBVI):
    """Kernel-UCBVI with representative states: its cost does not grow with the data.

    Args:
        env: with finitely many actions, or candidates of them.
        radius: a state farther than this from all representatives becomes one.
        options: as for "kernel-ucbvi".
    """

    name: ClassVar[str] = "rs-kernel-ucbvi"
    _own: ClassVar[tuple[str, ...]] = (*KernelUCBVI._own, "radius")

    def __init__(self, env: gymnasium.Env[Any, Any], *, radius: float = 0.05, **options: Any) -> None:
        self.radius = at_least_zero("radius", radius)
        super().__init__(env, **options)

    def _learn(self, data: EpisodeData) -> None:
        for states in (data.states, data.next_states):
            for i in range(len(states)):
                known = np.asarray(self.support.points, dtype=np.float64)
                if not len(self.support) or cdist(states[i : i + 1], known).min() > self.radius:
                    self.support.add(states[i : i + 1])
        known = np.array(self.support.points, dtype=np.float64)
        for samples in self._samples:
            samples.represent(known)
        super()._learn(data)

    def _place(self, data: EpisodeData) -> Any:
        return cdist(data.next_states, np.asarray(self.support.points)).argmin(axis=1)

    def _new_samples(self) -> Samples:
        return Smoother(len(self.actions), self.states.dims, self.bandwidth, representatives=True)
