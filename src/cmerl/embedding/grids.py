"""Embeddings seen at states × actions, using whatever structure the kernel has.

- An indicator action kernel makes A independent regressions on states.
- A product kernel k_s·k_a needs only k_s at the states: E[V|s,a] = K_s (coef ∘ k_a(·, a)).
- Any other kernel is evaluated at all state-actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.regression import HalfSolved, RidgeRegression, Snapshot
from cmerl.kernels import Kernel, StateAction
from cmerl.linalg import Cholesky, GrowingMatrix
from cmerl.transitions import Points, PointSet, take

FloatArray = NDArray[np.float64]

DEFER = 64  # new rows of a regression that wait to be solved together


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

    def expectation(self, coef: Sequence[HalfSolved]) -> FloatArray:
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


def by_action(values: list[FloatArray], layout: Layout) -> FloatArray:
    """One vector (q,) an action, or all state-actions in one (q·A,), as (q, A)."""
    if layout.split:
        return np.array(values).T  # a column an action in memory too: maxima over actions are quick
    return values[0].reshape(-1, len(layout.actions))


def _kernel(kernel: Kernel, X: Points, Y: Points) -> FloatArray:
    """Kernel matrix (q, m), also where one side is still empty and so has no columns."""
    return kernel(X, Y) if len(X) and len(Y) else np.empty((len(X), len(Y)))


class SupportGrid:
    """The embedding at its own growing support × actions: each kernel value and solve is computed once.

    Means are Wᵀ(L⁻¹y) with W = L⁻¹k(rows, queries), so a backup needs one triangular solve and σ² comes free.
    A product kernel reads k_s alone instead, which is A times smaller than W; W is kept there only to track σ.
    """

    def __init__(self, layout: Layout, regressions: Sequence[RidgeRegression], track_std: bool) -> None:
        self.layout = layout
        self._keeps_half_weights = track_std or not layout.product
        self._keeps_std = track_std
        self._regressions = regressions
        self._half_weights = [HalfWeights(r, defer=0 if track_std else DEFER) for r in regressions]
        self._Ks = GrowingMatrix()
        self._Ka = np.empty((0, len(layout.actions)))
        self._states: Points = np.empty((0, 0))

    def refresh(self, states: Points) -> SupportGrid:
        """Extend the caches to the current support and data."""
        self._states = states
        if self.layout.product:
            self._refresh_product()
        if self._keeps_half_weights:
            queries = self._states if self.layout.split else self.layout.state_actions(self._states)
            for half_weights in self._half_weights:
                half_weights.refresh(queries)
        return self

    def _refresh_product(self) -> None:
        kernel, points = self.layout.kernel, self._regressions[0].points.points
        assert isinstance(kernel, StateAction)
        q, m, q0, m0 = len(self._states), len(points), *self._Ks.shape
        if m == 0:
            return
        states, actions = kernel.split(points)
        Ks = self._Ks.resize(q, m)
        if q > q0:
            Ks[q0:] = kernel.state_kernel(self._states[q0:], states)
        if m > m0 and q0:
            Ks[:q0, m0:] = kernel.state_kernel(self._states[:q0], states[m0:])
        if m > m0:
            self._Ka = np.vstack([self._Ka, kernel.action_kernel(actions[m0:], self.layout.actions)])

    def expectation(self, coef: Sequence[HalfSolved]) -> FloatArray:
        """α(z)ᵀy (m, A)."""
        if not len(self._states):
            return np.empty((0, len(self.layout.actions)))
        if self.layout.product:
            return self._Ks.view @ (self._Ka * coef[0].full[:, None])
        columns = [w.project(c.half) for c, w in zip(coef, self._half_weights, strict=True)]
        return by_action(columns, self.layout)

    def std(self) -> FloatArray:
        """σ(z) (m, A)."""
        if not self._keeps_std:
            return self._uncached().std()
        return np.sqrt(by_action([np.maximum(w.variance, 0.0) for w in self._half_weights], self.layout))

    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (m, A)."""
        return self._uncached().weight_norm1()

    def _uncached(self) -> ExactGrid:
        return ExactGrid(self.layout, [r.snapshot() for r in self._regressions], self._states)


class Rows(Protocol):
    """Something with an append-only factor over points: a regression, or a dictionary."""

    kernel: Kernel
    points: PointSet
    factor: Cholesky
    generation: int

    @property
    def ids(self) -> NDArray[np.intp]:
        """Id of the point behind each row of the factor."""
        ...


class HalfWeights:
    """W = L⁻¹k(rows, queries) and k(q, q) − ‖W‖², as both the rows and the queries grow.

    New rows reduce the variance by their squares; new queries are new columns. For a regression the variance is
    σ²; for a dictionary W are coordinates and the variance is the residual.

    Solving a few new rows reads all of W. With ``defer`` up to that many rows wait as plain kernel values, and the
    variance is not kept; ``project`` is exact all the same.
    """

    def __init__(self, regression: Rows, defer: int = 0) -> None:
        self.regression = regression
        self._defer = defer
        self._clear()

    def _clear(self) -> None:
        self._generation = self.regression.generation
        self._W = GrowingMatrix()
        self._solved = 0  # leading rows that are L⁻¹k; the others still are k
        self.variance = np.empty(0)

    @property
    def W(self) -> FloatArray:
        """L⁻¹k(rows, queries) (rows, q), if nothing is deferred."""
        return self._W.view

    def project(self, half: FloatArray) -> FloatArray:
        """Wᵀ half (q,) for half = L⁻¹y (rows,)."""
        return self.regression.factor.back_solve_from(self._solved, half) @ self._W.view

    def refresh(self, queries: Points) -> None:
        """Extend to the current rows and to the given queries, which continue those given before."""
        if self._generation != self.regression.generation:
            self._clear()
        factor, ids, kernel = self.regression.factor, self.regression.ids, self.regression.kernel
        points = self.regression.points.points
        (r0, q0), (r, q) = self._W.shape, (factor.n, len(queries))
        W = self._W.resize(r, q)
        if r > r0 and q0:
            W[r0:, :q0] = kernel(take(points, ids[r0:]), queries[:q0])
        old, self._solved = self._solved, r if r - self._solved > self._defer else self._solved
        if self._solved > old and q0:
            factor.half_solve_from(old, W[: self._solved, :q0])
        if q > q0 and r:
            W[:, q0:] = kernel(points, queries[q0:])[ids]
            factor.half_solve_from(0, W[: self._solved, q0:])
        if not self._defer:
            if q0:
                self.variance -= np.einsum("rq,rq->q", W[r0:, :q0], W[r0:, :q0])
            if q > q0:
                fresh = kernel.diag(queries[q0:]) - np.einsum("rq,rq->q", W[:, q0:], W[:, q0:])
                self.variance = np.concatenate([self.variance, fresh])
