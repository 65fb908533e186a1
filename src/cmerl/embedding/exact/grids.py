"""Embeddings at states × actions, using the structure of the kernel.

- An indicator action kernel makes A independent regressions on states.
- A product kernel k_s·k_a needs only k_s at the states: E[V|s,a] = K_s (coef ∘ k_a(·, a)).
- Any other kernel is evaluated at all state-actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.regression import Regressed, Snapshot
from cmerl.kernels import Kernel, StateAction
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """The layout of a kernel on state-actions over a finite action set."""

    kernel: Kernel
    actions: Points

    @property
    def split(self) -> bool:
        """True where regressions on different actions are independent."""
        return isinstance(self.kernel, StateAction) and self.kernel.indicator

    @property
    def product(self) -> bool:
        """True where the kernel is k_s·k_a and does not split."""
        return isinstance(self.kernel, StateAction) and not self.kernel.indicator

    @property
    def action_dims(self) -> int:
        """Columns of an action."""
        return int(np.shape(self.actions)[1])

    def own_slope(self, z: FloatArray) -> FloatArray:
        """∂k(z, z)/∂a (d_a,): both arguments move, and the kernel is symmetric."""
        return 2.0 * self.kernel.gradient(z, z[None])[0, -self.action_dims :]

    def state_actions(self, states: Points) -> Points:
        """Every state with every action, actions varying fastest (q·A points)."""
        q, A = len(states), len(self.actions)
        if isinstance(states, np.ndarray) and isinstance(self.actions, np.ndarray):
            return np.hstack([np.repeat(states, A, axis=0), np.tile(self.actions, (q, 1))])
        return [(s, a) for s in states for a in self.actions]


class ExactGrid:
    """Snapshots of the regressions at q states × A actions."""

    def __init__(self, layout: Layout, regressions: Sequence[Snapshot], states: Points) -> None:
        self.layout, self.regressions, self.states = layout, regressions, states

    @cached_property
    def _Kqz(self) -> list[FloatArray]:
        """Kernel at queries × points, one matrix a regression: (q, m) if split, else (q·A, m)."""
        if self.layout.split:
            return [_kernel(r.kernel, self.states, r.points) for r in self.regressions]
        Zq = self.layout.state_actions(self.states)
        return [_kernel(r.kernel, Zq, r.points) for r in self.regressions]

    @cached_property
    def _Ks(self) -> FloatArray:
        """Product kernels: k_s at states × states of the points (q, m)."""
        assert isinstance(self.layout.kernel, StateAction)
        points = self.regressions[0].points
        if len(points) == 0:
            return np.empty((len(self.states), 0))
        return self.layout.kernel.state_kernel(self.states, self.layout.kernel.split(points)[0])

    @cached_property
    def _Ka(self) -> FloatArray:
        """Product kernels: k_a at points × actions (m, A)."""
        assert isinstance(self.layout.kernel, StateAction)
        points = self.regressions[0].points
        if len(points) == 0:
            return np.empty((0, len(self.layout.actions)))
        return self.layout.kernel.action_kernel(self.layout.kernel.split(points)[1], self.layout.actions)

    def expectation(self, coef: Sequence[Regressed]) -> FloatArray:
        """α(z)ᵀy (q, A)."""
        if self.layout.split:
            return by_action([K @ c.full for K, c in zip(self._Kqz, coef, strict=True)], self.layout)
        if self.layout.product:
            return self._Ks @ (self._Ka * coef[0].full[:, None])
        return (self._Kqz[0] @ coef[0].full).reshape(-1, len(self.layout.actions))

    def std(self) -> FloatArray:
        """σ(z) (q, A)."""
        return np.sqrt(by_action([r.variance(K, self._kqq) for r, K in self._with_kernels()], self.layout))

    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (q, A)."""
        norms = [np.abs(r.row_weights(K)).sum(axis=1) for r, K in self._with_kernels()]
        return by_action(norms, self.layout)

    def shrinkage(self) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ (q, A)."""
        return by_action([r.shrinkage(K, self._kqq) for r, K in self._with_kernels()], self.layout)

    def _with_kernels(self) -> zip[tuple[Snapshot, FloatArray]]:
        return zip(self.regressions, self._Kqz, strict=True)

    @cached_property
    def _kqq(self) -> FloatArray:
        kernel = self.regressions[0].kernel
        return kernel.diag(self.states if self.layout.split else self.layout.state_actions(self.states))


@dataclass(frozen=True)
class ExactView:
    """An exact embedding at one moment."""

    layout: Layout
    regressions: Sequence[Snapshot]

    def grid(self, states: Points) -> ExactGrid:
        """The embedding of that moment at states × actions."""
        return ExactGrid(self.layout, self.regressions, states)

    def with_actions(self, actions: FloatArray) -> ExactView | None:
        """The same at other actions; None if the kernel separates actions."""
        return None if self.layout.split else replace(self, layout=Layout(self.layout.kernel, actions))

    def mean_slope(self, coef: Sequence[Regressed], z: FloatArray) -> FloatArray:
        """∂(α(z)ᵀy)/∂a (d_a,)."""
        return np.asarray(coef[0].full @ self._kernel_slopes(z))

    @property
    def centres(self) -> list[FloatArray]:
        """The points at whose kernels means are sums, in one array or in one for each action."""
        return [np.asarray(known.points) for known in self.regressions]

    def weights_at_centres(self, coef: Sequence[Regressed]) -> FloatArray:
        """The mean of a target as weights (m,) on the kernel at ``centres``."""
        return np.concatenate([regressed.full for regressed in coef])

    def variance_slope(self, z: FloatArray) -> FloatArray:
        """∂σ²(z)/∂a (d_a,)."""
        known = self.regressions[0]
        weights = known.row_weights(_kernel(known.kernel, z[None], known.points))[0]
        return np.asarray(self.layout.own_slope(z) - 2.0 * weights @ self._kernel_slopes(z)[known.ids])

    def _kernel_slopes(self, z: FloatArray) -> FloatArray:
        """∂k(z, points)/∂a (m, d_a)."""
        points = self.regressions[0].points
        if not len(points):
            return np.empty((0, self.layout.action_dims))
        return self.layout.kernel.gradient(z, np.asarray(points))[:, -self.layout.action_dims :]


def by_action(values: list[FloatArray], layout: Layout) -> FloatArray:
    """One vector (q,) an action, or all state-actions in one (q·A,), as (q, A).

    A column an action in memory too: maxima over actions are quick.
    """
    if layout.split:
        return np.array(values).T
    return np.asfortranarray(values[0].reshape(-1, len(layout.actions)))


def _kernel(kernel: Kernel, X: Points, Y: Points) -> FloatArray:
    """Kernel matrix (q, m), also where one side is still empty and so has no columns."""
    return kernel(X, Y) if len(X) and len(Y) else np.empty((len(X), len(Y)))
