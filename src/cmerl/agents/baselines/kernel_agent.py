"""The base of kernel agents: the kernel as an option, exact embeddings (one, or one per step), backups."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np

from cmerl.agents.baselines.encoded import (
    EncodedAgent,
    EpisodeData,
    FloatArray,
    StepQ,
    at_least_zero,
    one_law,
    positive,
)
from cmerl.agents.cme_rl.default_kernels import choose_kernel
from cmerl.agents.cme_rl.settings import KernelSettings
from cmerl.agents.saving import container
from cmerl.embedding import Coef, ExactEmbedding, Grid
from cmerl.kernels import Kernel, from_spec


class KernelAgent(EncodedAgent):
    """Base of agents that regress on state-actions with a kernel.

    Args:
        env: with finitely many actions, or candidates of them.
        kernel: on encoded state-actions, or "auto": delta kernels on Discrete observations, else RBF kernels of width
            0.1 on observations scaled to [0, 1].
        lam: the ridge λ, or "auto": 1 with ``theory``, else 0.01.
        width: the practical radius is this times the remaining steps.
        time_homogeneous: whether all steps share their data; "auto" does unless ``theory``.
        options: as for every agent with features.
    """

    _own: ClassVar[tuple[str, ...]] = ("lam", "width", "time_homogeneous")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        kernel: Kernel | Literal["auto"] = "auto",
        lam: float | Literal["auto"] = "auto",
        width: float = 0.1,
        time_homogeneous: bool | Literal["auto"] = "auto",
        **options: Any,
    ) -> None:
        super().__init__(env, **options)
        # Chosen before the data, as in a proof: None would leave the choice to them.
        chosen = choose_kernel(kernel, self.states, self.actions, KernelSettings(), provable=True)
        assert chosen is not None
        self.kernel = chosen
        self.lam = (1.0 if self.theory else 0.01) if lam == "auto" else positive("lam", lam)
        self.width = at_least_zero("width", width)
        self.time_homogeneous = one_law(time_homogeneous, self.theory)
        self._begin()

    def _begin(self) -> None:
        groups = 1 if self.time_homogeneous else self.horizon
        self._embeddings = [ExactEmbedding(self.kernel, self.lam, self.actions.rows) for _ in range(groups)]

    def _learn(self, data: EpisodeData) -> None:
        if self.time_homogeneous:
            self._embeddings[0].update(data.transitions)
            return
        for step in range(len(data)):
            self._embeddings[step].update(data.transitions[step : step + 1])

    def _group(self, step: int) -> int:
        """Which embedding a step has."""
        return min(step, len(self._embeddings) - 1)

    @property
    def information_gain(self) -> float:
        """G = ½ log det(I + K/λ), the largest of all steps."""
        return max(E.information_gain for E in self._embeddings)

    def _upper_plan(self, radius: list[float]) -> StepQ:
        """Backward pass with Q_h = clip(α(z)ᵀ(r + V_{h+1}) + radius_h·λ^{-1/2}σ(z), 0, remaining steps)."""
        H, root = self.horizon, np.sqrt(self.lam)
        coefs: dict[int, Coef] = {}
        views = [E.freeze() for E in self._embeddings]

        def at(grid: Grid, step: int) -> FloatArray:
            found = grid.expectation(coefs[step])
            if radius[step]:
                found = found + radius[step] / root * grid.std()
            return np.clip(found, 0.0, H - step)

        for step in reversed(range(H)):
            E = self._embeddings[self._group(step)]
            v = np.zeros(len(E.support))
            if step + 1 < H and len(v):
                own = len(self._embeddings) == 1
                grid = E.grid() if own else self._embeddings[step + 1].grid(E.support)
                v = at(grid, step + 1).max(axis=1)
            coefs[step] = E.backup(v, terminal=self._terminal(step + 1))
        latest: dict[int, tuple[bytes, Grid]] = {}  # states are often asked for at all steps in turn

        def q(states: FloatArray, step: int) -> FloatArray:
            g, key = self._group(step), states.tobytes()
            if g not in latest or latest[g][0] != key:
                latest[g] = key, views[g].grid(states)
            return at(latest[g][1], step)

        return q

    def _report(self) -> dict[str, Any]:
        return {"kernel": repr(self.kernel), "lam": self.lam, "information gain": self.information_gain}

    def _state(self) -> tuple[container.Tensors, dict[str, Any]]:
        tensors, meta = super()._state()
        return tensors, {**meta, "kernel": self.kernel.spec()}

    def _restore_own(self, tensors: container.Tensors, meta: dict[str, Any]) -> None:
        self.kernel = from_spec(meta["kernel"])
