"""LSVI-UCB: optimistic least-squares value iteration with linear features.

Reference: C. Jin, Z. Yang, Z. Wang, M. I. Jordan, "Provably efficient reinforcement learning with linear function
approximation", COLT 2020, Algorithm 1.

Constants: Q_h = min{φᵀw_h + β‖φ‖_{Λ_h⁻¹}, H}. With ``theory`` λ = 1 and β = c·d·H·√log(2dT/δ); the paper leaves the
absolute constant c open, here c = 1. Otherwise λ = 0.01 and β = ``width``·(H − step).

Differences: the number of steps T is that of the episodes begun so far, so no number of episodes need be given. Q is
clipped at the remaining steps, not at H, and at 0. Without ``theory`` all steps share their data.
"""

from __future__ import annotations

import functools
import math
import reprlib
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np

from cmerl.agents.base import Policy
from cmerl.agents.baselines.encoded import EncodedAgent, EpisodeData, FloatArray, at_least_zero, one_law, positive
from cmerl.agents.baselines.linear_regression import DenseRegression, LinearRegression, OneHotRegression
from cmerl.agents.saving import container
from cmerl.errors import InputError
from cmerl.transitions import PointSet

FeatureMap = Callable[[Any, Any], Sequence[float]]
"""φ(observation, action) (d,)."""


def lsvi_radius(size: int, *, horizon: int, steps: int, delta: float) -> float:
    """β = d·H·√log(2dT/δ) [Jin et al. 2020, Thm 3.1] with its absolute constant set to 1."""
    return size * horizon * math.sqrt(math.log(2.0 * size * max(steps, 1) / delta))


class LSVIUCB(EncodedAgent):
    """Optimistic least-squares value iteration with linear features [Jin et al. 2020].

    Args:
        env: with finitely many actions, or candidates of them.
        features: φ(observation, action) as a function, or "one-hot" on Discrete observations.
        lam: the ridge λ, or "auto": 1 with ``theory``, else 0.01.
        width: the practical radius is this times the remaining steps.
        time_homogeneous: whether all steps share their data; "auto" does unless ``theory``.
        options: as for every agent with features.
    """

    name: ClassVar[str] = "lsvi-ucb"
    _own: ClassVar[tuple[str, ...]] = ("lam", "width", "time_homogeneous")
    _given: ClassVar[tuple[str, ...]] = ("features",)

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        features: FeatureMap | Literal["one-hot"] = "one-hot",
        lam: float | Literal["auto"] = "auto",
        width: float = 0.1,
        time_homogeneous: bool | Literal["auto"] = "auto",
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        self.features = features
        self.lam = (1.0 if self.theory else 0.01) if lam == "auto" else positive("lam", lam)
        self.width = at_least_zero("width", width)
        self.time_homogeneous = one_law(time_homogeneous, self.theory)
        self._begin()

    def _begin(self) -> None:
        one_hot = isinstance(self.features, str)
        if one_hot and self.states.states is None:
            raise InputError(
                f"agent {self.name!r} needs features=φ(observation, action) where observations are not Discrete"
            )
        self._next = PointSet()
        self._phi_known: dict[bytes, FloatArray] = {}
        self._support_phi: list[FloatArray] = []  # features at the distinct next states
        groups = 1 if self.time_homogeneous else self.horizon
        if one_hot:
            assert self.states.states is not None
            self.size = self.states.states * len(self.actions)
        else:
            self.size = self._probe()
        kind = OneHotRegression if one_hot else DenseRegression
        self._regressions: list[LinearRegression] = [kind(self.size, self.lam) for _ in range(groups)]

    def _probe(self) -> int:
        """Number of features, from some observation that the environment's space allows."""
        low = np.concatenate([part.low for part in self.states.parts])
        high = np.concatenate([part.high for part in self.states.parts])
        inside = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        row = self.states.columns.apply(inside[None])
        return int(self._phi(row).shape[-1])

    def _phi(self, states: FloatArray) -> FloatArray:
        """Features at states × actions (q, A, d), or their numbers (q, A) where they are one-hot."""
        if isinstance(self.features, str):
            first = self.states.parts[0].low[0]
            return np.asarray((states[:, :1] - first) * len(self.actions) + np.arange(len(self.actions)))
        rows = []
        for state in states:
            key = state.tobytes()
            if key not in self._phi_known:
                obs = self.states.decode(state[None])[0]
                phi = np.array([np.ravel(self.features(obs, a)) for a in self.actions.values], dtype=np.float64)
                if not np.isfinite(phi).all():
                    raise InputError(f"features are NaN or infinite at observation {reprlib.repr(obs)}")
                self._phi_known[key] = phi
            rows.append(self._phi_known[key])
        return np.array(rows)

    def _learn(self, data: EpisodeData) -> None:
        chosen = self._phi(data.states)[np.arange(len(data)), self._index(data.actions)]
        support = self._phi(data.next_states)  # asked before anything changes: a user's function may raise
        alive = ~data.terminated
        ids = np.full(len(data), -1, dtype=np.intp)
        ids[alive] = self._next.add(data.next_states[alive])
        for i in np.flatnonzero(ids >= len(self._support_phi)):
            if ids[i] == len(self._support_phi):
                self._support_phi.append(support[i])
        if self.time_homogeneous:
            self._regressions[0].add(chosen, ids, data.rewards)
            return
        for step in range(len(data)):
            here = slice(step, step + 1)
            self._regressions[step].add(chosen[here], ids[here], data.rewards[here])

    def _beta(self, step: int) -> float:
        """The radius at ``step``, with its scale."""
        H = self.horizon
        if not self.theory:
            return self.bonus_scale * self.width * (H - step)
        episodes = len(self.log) + 1
        return self.bonus_scale * lsvi_radius(self.size, horizon=H, steps=episodes * H, delta=self.delta)

    def _make_policy(self, explore: bool) -> Policy:
        H, m = self.horizon, len(self._support_phi)
        support = np.array(self._support_phi) if m else self._phi(np.empty((0, self.states.dims)))
        regressions = [regression.freeze() for regression in self._regressions]
        beta = [self._beta(step) if explore else 0.0 for step in range(H)]
        widths: dict[int, FloatArray] = {}
        w: list[FloatArray] = [np.zeros(self.size)] * H
        v = np.zeros(m)
        for step in reversed(range(H)):
            g = min(step, len(regressions) - 1)
            w[step] = regressions[g].solve(v, self._terminal(step + 1))
            if step == 0:
                break
            if explore and m and g not in widths:
                widths[g] = regressions[g].width(support)
            if m:
                bonus = beta[step] * widths[g] if explore else 0.0
                v = np.clip((regressions[g].mean(w[step], support) + bonus).max(axis=1), 0.0, H - step)

        @functools.lru_cache(maxsize=256)  # states are met again, and asked for at all steps in turn
        def known(rows: bytes, g: int) -> tuple[FloatArray, FloatArray | float]:
            phi = self._phi(np.frombuffer(rows).reshape(-1, self.states.dims))
            return phi, regressions[g].width(phi) if explore else 0.0

        def q(states: FloatArray, step: int) -> FloatArray:
            g = min(step, len(regressions) - 1)
            phi, width = known(states.tobytes(), g)
            return np.clip(regressions[g].mean(w[step], phi) + beta[step] * width, 0.0, H - step)

        return self._step_policy(q)

    def _report(self) -> dict[str, Any]:
        return {"features": self.size, "distinct next states": len(self._support_phi), "radius": self._beta(0)}

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        return tensors, {**meta, "features": self.features if isinstance(self.features, str) else None}

    def _restore_own(self, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        if meta["features"] is not None:
            self.features = meta["features"]
        elif "features" not in self.__dict__:
            raise InputError("this agent was given its features as a function, which is not saved: pass features=…")
