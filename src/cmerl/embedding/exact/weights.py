"""The weights W = L⁻¹k(rows, queries) of all regressions of an embedding, full or at their numerical rank."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.compressed.dictionary import Dictionary
from cmerl.embedding.exact.growing_solve import GrowingSolve
from cmerl.embedding.exact.regression import Regressed, RidgeRegression
from cmerl.growing import GrowingMatrix
from cmerl.transitions import Points, join_points

FloatArray = NDArray[np.float64]

DEFER = 64  # new rows of a regression that wait to be solved together
RANK_TOLERANCE = 1e-11  # of k(x, x): what a basis may leave of a point; round-off spoils a finer one
RANK_GROWTH = 100.0  # of its coordinates: seen to be good to 1e-12 below that, and from ten times as much on not


class Weights(Protocol):
    """W of every regression at a growing list of queries."""

    def refresh(self, queries: Points) -> None:
        """Extend to the current rows and to the given queries, which continue those given before."""
        ...

    def project(self, coef: Sequence[Regressed]) -> list[FloatArray]:
        """WᵀL⁻¹y (q,) of each regression."""
        ...

    @property
    def variances(self) -> list[FloatArray]:
        """k(q, q) − ‖W‖² (q,) of each regression, where it is tracked."""
        ...

    @property
    def accurate(self) -> bool:
        """Whether round-off is negligible; if not, weights must be recomputed."""
        ...


class DenseWeights:
    """Every entry of W is kept."""

    accurate = True

    def __init__(self, regressions: Sequence[RidgeRegression], track_std: bool) -> None:
        self._parts = [GrowingSolve(r, defer=0 if track_std else DEFER) for r in regressions]

    def refresh(self, queries: Points) -> None:
        """Extend to the current rows and to the given queries."""
        for part in self._parts:
            part.refresh(queries)

    def project(self, coef: Sequence[Regressed]) -> list[FloatArray]:
        """WᵀL⁻¹y of each regression."""
        return [part.project(c.half) for part, c in zip(self._parts, coef, strict=True)]

    @property
    def variances(self) -> list[FloatArray]:
        """k(q, q) − ‖W‖² of each regression."""
        return [part.variance for part in self._parts]


class FactoredWeights:
    """W = PΦ with P = L⁻¹Φ(rows)ᵀ, one for each regression, and coordinates Φ of the queries that all of them share.

    Kernel matrices of smooth kernels have a rank far below their size once what is below round-off is left out:
    k(x, y) = φ̃(x)ᵀφ̃(y) up to ``RANK_TOLERANCE`` in the coordinates of a basis, to which every point is held.
    Products then read two narrow matrices instead of all of W.

    Args:
        basis: a dictionary that represents all points and queries; it grows with them.
        regressions: with the kernel of the basis.
        track_std: keep k(q, q) − ‖W‖².
    """

    def __init__(self, basis: Dictionary, regressions: Sequence[RidgeRegression], track_std: bool) -> None:
        self._basis, self._regressions, self._track_std = basis, regressions, track_std
        self._queries = basis.tracker()  # Φ at the queries
        self._points = [basis.tracker() for _ in regressions]  # Φ at the points of each regression
        self._parts = [CoordinateSolver(r) for r in regressions]
        self.variances = [np.empty(0) for _ in regressions]

    @property
    def accurate(self) -> bool:
        """Whether round-off in the coordinates is negligible; if not, a new basis must be chosen."""
        return self._basis.growth <= RANK_GROWTH

    def refresh(self, queries: Points) -> None:
        """Extend to the current rows and to the given queries."""
        q0 = self._queries.W.shape[1]
        if q0:  # the basis was chosen for the first ones
            pairs = zip(self._points, self._regressions, strict=True)
            news = [r.points.points[tracker.W.shape[1] :] for tracker, r in pairs]
            self._basis.absorb(join_points([queries[q0:], *news]))
        self._queries.refresh(queries)
        for g, (tracker, r) in enumerate(zip(self._points, self._regressions, strict=True)):
            tracker.refresh(r.points.points)
            r0 = self._parts[g].extend(tracker.W)
            if self._track_std:
                self._reduce(g, r0, q0, queries)

    def _reduce(self, g: int, r0: int, q0: int, queries: Points) -> None:
        """Take the squares of new rows from the variance of old queries, those of all rows from that of new ones."""
        P, Phi = self._parts[g].P, self._queries.W
        if r0 == 0:  # also after rows were merged
            q0 = 0
        old = P[r0:] @ Phi[:, :q0]
        new = P @ Phi[:, q0:]
        self.variances[g] = np.concatenate(
            [
                self.variances[g][:q0] - np.einsum("rq,rq->q", old, old),
                self._basis.kernel.diag(queries[q0:]) - np.einsum("rq,rq->q", new, new),
            ]
        )

    def project(self, coef: Sequence[Regressed]) -> list[FloatArray]:
        """WᵀL⁻¹y of each regression."""
        coordinates = np.stack([part.solve(c.y) for part, c in zip(self._parts, coef, strict=True)])
        return list(coordinates @ self._queries.W)


class CoordinateSolver:
    """PᵀL⁻¹y for a regression, P = L⁻¹Φ(rows)ᵀ the weights of coordinates, as rows and coordinates grow.

    For the leading rows G = L₁₁⁻ᵀP₁ is kept, so that no solve is needed; newer rows wait, up to ``DEFER`` of them:
    PᵀL⁻¹y = Gᵀy₁ + P₂ᵀL₂₂⁻¹(y₂ − Bᵀy₁) with B = L₁₁⁻ᵀL₂₁ᵀ.
    """

    def __init__(self, regression: RidgeRegression) -> None:
        self._regression = regression
        self._weights = GrowingSolve(regression)
        self._clear()

    def _clear(self) -> None:
        self._generation = self._regression.generation
        self._G, self._B = GrowingMatrix(), GrowingMatrix()

    @property
    def P(self) -> FloatArray:
        """L⁻¹Φ(rows)ᵀ (rows, m)."""
        return self._weights.W

    def extend(self, coordinates: FloatArray) -> int:
        """Extend to the current rows and to the coordinates (m, points) of their points; returns the rows before."""
        if self._generation != self._regression.generation:
            self._clear()
        r0, _ = self._weights.extend(len(coordinates), lambda ids, new: np.asarray(coordinates[new][:, ids].T))
        factor, (s, m0), m = self._regression.factor, self._G.shape, len(coordinates)
        if s and m > m0:
            self._G.resize(s, m)[:, m0:] = factor.back_solve(self.P[:s, m0:])
        if factor.n - s > DEFER:
            self._absorb_waiting(s)
        elif factor.n > r0 and s:
            waiting = r0 - s
            self._B.resize(s, factor.n - s)[:, waiting:] = factor.back_solve(factor.L[r0:, :s].T)
        return r0

    def _absorb_waiting(self, s: int) -> None:
        """Let G have all rows: its old ones lose what the new ones explain."""
        n, m = self.P.shape
        factor = self._regression.factor
        new = factor.tail_solve(s, self.P[s:], transposed=True)
        B = factor.back_solve(factor.L[s:, :s].T)
        grown = GrowingMatrix()  # not in place, so that an update that fails can be turned back
        G = grown.resize(n, m)
        G[:s] = self._G.view - B @ new if s else 0.0
        G[s:] = new
        self._G, self._B = grown, GrowingMatrix()

    def solve(self, y: FloatArray) -> FloatArray:
        """PᵀL⁻¹y (m,) for y (rows,)."""
        s = len(self._G.view)
        out = y[:s] @ self._G.view
        if s < len(y):
            ahead = y[s:] - y[:s] @ self._B.view if s else y
            out += self._regression.factor.tail_solve(s, ahead) @ self.P[s:]
        return np.asarray(out)


def factor_weights(
    regressions: Sequence[RidgeRegression], queries: Points, track_std: bool
) -> FactoredWeights | None:
    """Weights at their numerical rank, or None where that is so high that W as it is costs no more."""
    points = [r.points.points for r in regressions]
    rows, q = sum(len(p) for p in points), len(queries)
    limit = rows * q // (2 * (rows + q))  # at which products read half of what they read of W
    basis = Dictionary(regressions[0].kernel, RANK_TOLERANCE, limit, candidates=2 * limit)
    basis.choose(join_points([*points, queries]))
    if basis.full:
        return None
    basis.cap = sys.maxsize  # from now on whatever comes is represented
    return FactoredWeights(basis, regressions, track_std)
