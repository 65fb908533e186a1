"""The exact embedding at its own support, cached as data grow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.grids import ExactGrid, Layout, by_action
from cmerl.embedding.exact.regression import Regressed, RidgeRegression
from cmerl.embedding.exact.weights import DenseWeights, FactoredWeights, Weights, factor_weights
from cmerl.growing import GrowingMatrix
from cmerl.kernels import StateAction
from cmerl.transitions import Points

FloatArray = NDArray[np.float64]

RANK_FROM = 1000  # distinct state-actions at which the numerical rank of W is first looked at


class SupportGrid:
    """The embedding at its own growing support × actions: each kernel value and solve is computed once.

    Means are Wᵀ(L⁻¹y) with W = L⁻¹k(rows, queries), so a backup needs one triangular solve and σ² comes free.
    A product kernel reads k_s alone instead, which is A times smaller than W; W is kept there only to track σ.
    Whenever the data have doubled, W is examined again: it may pay to keep it at its numerical rank.
    """

    def __init__(self, layout: Layout, regressions: Sequence[RidgeRegression], track_std: bool) -> None:
        self.layout = layout
        self._keeps_weights = track_std or not layout.product
        self._keeps_std = track_std
        self._regressions = regressions
        self.weights: Weights = DenseWeights(regressions, track_std)
        self._look_at = RANK_FROM
        self._Ks = GrowingMatrix()
        self._Ka = np.empty((0, len(layout.actions)))
        self._states: Points = np.empty((0, 0))

    def refresh(self, states: Points) -> SupportGrid:
        """Extend the caches to the current support and data."""
        self._states = states
        if self.layout.product:
            self._refresh_product()
        if self._keeps_weights:
            queries = self._states if self.layout.split else self.layout.state_actions(self._states)
            if sum(len(r.points) for r in self._regressions) >= self._look_at:
                self._choose_weights(queries)
            self.weights.refresh(queries)
            if not self.weights.accurate:
                self._choose_weights(queries)
                self.weights.refresh(queries)
        return self

    def _choose_weights(self, queries: Points) -> None:
        self._look_at = 2 * sum(len(r.points) for r in self._regressions)
        factored = factor_weights(self._regressions, queries, self._keeps_std)
        if factored is not None:
            self.weights = factored
        elif isinstance(self.weights, FactoredWeights):
            self.weights = DenseWeights(self._regressions, self._keeps_std)

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

    def expectation(self, coef: Sequence[Regressed]) -> FloatArray:
        """α(z)ᵀy (m, A)."""
        if not len(self._states):
            return np.empty((0, len(self.layout.actions)))
        if self.layout.product:
            return self._Ks.view @ (self._Ka * coef[0].full[:, None])
        return by_action(self.weights.project(coef), self.layout)

    def std(self) -> FloatArray:
        """σ(z) (m, A)."""
        if not self._keeps_std:
            return self._uncached().std()
        return np.sqrt(by_action([np.maximum(variance, 0.0) for variance in self.weights.variances], self.layout))

    def weight_norm1(self) -> FloatArray:
        """‖α(z)‖₁ (m, A)."""
        return self._uncached().weight_norm1()

    def shrinkage(self) -> FloatArray:
        """λ‖M⁻¹φ(z)‖ (m, A)."""
        return self._uncached().shrinkage()

    def _uncached(self) -> ExactGrid:
        return ExactGrid(self.layout, [r.snapshot() for r in self._regressions], self._states)
