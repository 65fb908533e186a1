"""Embeddings seen at states × actions, using whatever structure the kernel has.

- An indicator action kernel makes A independent regressions on states.
- A product kernel k_s·k_a needs only k_s at the states: E[V|s,a] = K_s (coef ∘ k_a(·, a)).
- Any other kernel is evaluated at all state-actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.base import Coef
from cmerl.embedding.regression import RidgeRegression, Snapshot
from cmerl.kernels import Kernel, StateAction
from cmerl.linalg import GrowingMatrix
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """How a kernel on state-actions is laid out over a finite set of actions."""

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

    def expectation(self, coef: Coef) -> FloatArray:
        """α(z)ᵀy (q, A), or (q, A, H) for coefficients with one column a step."""
        q, A = len(self.states), len(self.layout.actions)
        if self.layout.split:
            return np.stack([K[:, : len(c)] @ c for K, c in zip(self._Kqz, coef, strict=True)], axis=1)
        c, m = coef[0], len(coef[0])
        if self.layout.product:
            by_action = self._Ka[:m].reshape(m, A, *([1] * (c.ndim - 1))) * c[:, None]
            return (self._Ks[:, :m] @ by_action.reshape(m, -1)).reshape(q, A, *c.shape[1:])
        return (self._Kqz[0][:, :m] @ c).reshape(q, A, *c.shape[1:])

    def std(self) -> FloatArray:
        """σ(z) (q, A)."""
        return np.sqrt(self._by_action([r.variance(K, self._kqq) for r, K in self._with_kernels()]))

    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (q, A)."""
        return self._by_action([np.abs(r.row_weights(K)).sum(axis=1) for r, K in self._with_kernels()])

    def _with_kernels(self) -> zip[tuple[Snapshot, FloatArray]]:
        return zip(self.regressions, self._Kqz, strict=True)

    @cached_property
    def _kqq(self) -> FloatArray:
        kernel = self.regressions[0].kernel
        return kernel.diag(self.states if self.layout.split else self.layout.state_actions(self.states))

    def _by_action(self, columns: list[FloatArray]) -> FloatArray:
        if self.layout.split:
            return np.stack(columns, axis=1)
        return columns[0].reshape(len(self.states), len(self.layout.actions))


@dataclass(frozen=True)
class ExactView:
    """An exact embedding at one moment."""

    layout: Layout
    regressions: Sequence[Snapshot]

    def grid(self, states: Points) -> ExactGrid:
        """The embedding of that moment at states × actions."""
        return ExactGrid(self.layout, self.regressions, states)


def _kernel(kernel: Kernel, X: Points, Y: Points) -> FloatArray:
    """Kernel matrix (q, m), also where one side is still empty and so has no columns."""
    return kernel(X, Y) if len(X) and len(Y) else np.empty((len(X), len(Y)))


class SupportGrid:
    """The embedding at its own growing support × actions: each kernel value and solve is computed once.

    New observations add rows to W = L⁻¹k(rows, queries) and reduce σ² by their squares; new support states
    add columns.
    """

    def __init__(self, layout: Layout, regressions: Sequence[RidgeRegression]) -> None:
        self.layout, self.regressions = layout, regressions
        self._kernels = [GrowingMatrix() for _ in regressions]
        self._Ka = np.empty((0, len(layout.actions)))
        self._variances: list[_GrowingVariance] | None = None
        self._states: Points = np.empty((0, 0))

    def refresh(self, states: Points) -> SupportGrid:
        """Extend the caches to the current support."""
        self._states = states
        for cache, regression in zip(self._kernels, self.regressions, strict=True):
            if self.layout.product:
                assert isinstance(self.layout.kernel, StateAction)
                kernel = self.layout.kernel
                points = kernel.split(regression.points.points)[0] if len(regression.points) else []
                _extend(cache, kernel.state_kernel, states, points)
                done, m = len(self._Ka), len(regression.points)
                if m > done:
                    new = kernel.split(regression.points.points[done:])[1]
                    self._Ka = np.vstack([self._Ka, kernel.action_kernel(new, self.layout.actions)])
            else:
                queries = states if self.layout.split else self.layout.state_actions(states)
                _extend(cache, regression.kernel, queries, regression.points.points)
        return self

    def expectation(self, coef: Coef) -> FloatArray:
        """α(z)ᵀy (m, A)."""
        A = len(self.layout.actions)
        if self.layout.split:
            pairs = zip(self._kernels, coef, strict=True)
            return np.stack([K.view[:, : len(c)] @ c for K, c in pairs], axis=1)
        K, c = self._kernels[0].view[:, : len(coef[0])], coef[0]
        if self.layout.product:
            return K @ (self._Ka[: len(c)] * c[:, None])
        return (K @ c).reshape(-1, A)

    def std(self) -> FloatArray:
        """σ(z) (m, A)."""
        if self._variances is None:
            self._variances = [_GrowingVariance(r) for r in self.regressions]
        if self.layout.split:
            columns = [
                v.refresh(K.view, self._states) for v, K in zip(self._variances, self._kernels, strict=True)
            ]
            return np.sqrt(np.stack(columns, axis=1))
        Zq = self.layout.state_actions(self._states)
        if self.layout.product:
            K = (self._kernels[0].view[:, None, :] * self._Ka.T[None]).reshape(len(Zq), -1)
        else:
            K = self._kernels[0].view
        return np.sqrt(self._variances[0].refresh(K, Zq)).reshape(-1, len(self.layout.actions))

    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (m, A)."""
        return ExactGrid(self.layout, [r.snapshot() for r in self.regressions], self._states).weight_norm1()


def _extend(cache: GrowingMatrix, kernel: Kernel, queries: Points, points: Points) -> None:
    """Grow the cached kernel matrix to queries × points, evaluating only what is new."""
    q0, m0 = cache.shape
    q, m = len(queries), len(points)
    if (q, m) == (q0, m0):
        return
    K = cache.resize(q, m)
    if q > q0 and m:
        K[q0:] = kernel(queries[q0:], points)
    if m > m0 and q0:
        K[:q0, m0:] = kernel(queries[:q0], points[m0:])


class _GrowingVariance:
    """σ² of one regression at a growing list of queries."""

    def __init__(self, regression: RidgeRegression) -> None:
        self.regression = regression
        self._clear()

    def _clear(self) -> None:
        self.generation = self.regression.generation
        self._W = GrowingMatrix()
        self._var = np.empty(0)

    def refresh(self, Kqz: FloatArray, queries: Points) -> FloatArray:
        """σ² (q,) from the kernel at queries × distinct points (q, m)."""
        if self.generation != self.regression.generation:
            self._clear()
        factor, ids = self.regression.factor, self.regression.ids
        (r0, q0), (r, q) = self._W.shape, (factor.n, len(queries))
        W = self._W.resize(r, q)
        if r > r0 and q0:
            W[r0:, :q0] = Kqz[:q0, ids[r0:]].T
            factor.half_solve_from(r0, W[:, :q0])
            self._var -= np.einsum("rq,rq->q", W[r0:, :q0], W[r0:, :q0])
        if q > q0:
            W[:, q0:] = Kqz[q0:, ids].T
            factor.half_solve_from(0, W[:, q0:])
            fresh = self.regression.kernel.diag(queries[q0:])
            self._var = np.concatenate([self._var, fresh - np.einsum("rq,rq->q", W[:, q0:], W[:, q0:])])
        return np.maximum(self._var, 0.0)
