"""An append-only kernel ridge regression, with repeated inputs merged to counts.

n observations at m distinct points are equivalent to m observations of the mean targets with ridge λ/count:
α and σ are the same, exactly. A repeat first gets a row of its own, which costs O(n²) like any other;
when more than half of the rows are repeats, one refactorisation merges them. So the cost depends on the
number of distinct points, and no count ever has to be downdated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.growing import GrowingVector
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.transitions import Points, PointSet

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

CHUNK = 256  # rows appended at once, so that a batch full of repeats is merged on the way


@dataclass(frozen=True)
class Snapshot:
    """A regression at one moment. It costs nothing: factors and points only ever append, so views stay valid.

    Attributes:
        kernel: the kernel on points.
        points: the distinct inputs (m, d).
        factor: its leading ``len(ids)`` rows are those of this moment.
        ids: id of the point behind each row (rows,).
        counts: observations merged into each row (rows,).
        lam: the ridge λ.
    """

    kernel: Kernel
    points: Points
    factor: Cholesky
    ids: IntArray
    counts: FloatArray
    lam: float

    def variance(self, Kqz: FloatArray, kqq: FloatArray) -> FloatArray:
        """σ²(q) (q,) from the kernel at queries × points (q, m) and at the queries (q,)."""
        half = self.factor.half_solve(Kqz.T[self.ids])
        return np.asarray(np.maximum(kqq - np.einsum("rq,rq->q", half, half), 0.0))

    def shrinkage(self, Kqz: FloatArray, kqq: FloatArray) -> FloatArray:
        """λ‖M⁻¹φ(q)‖ (q,), from λ²‖M⁻¹φ‖² = σ² − λ‖α‖₂²; repeats share the weight of their row."""
        squares = (self.row_weights(Kqz) ** 2 / self.counts).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(self.variance(Kqz, kqq) - self.lam * squares, 0.0)))

    def row_weights(self, Kqz: FloatArray) -> FloatArray:
        """α summed over the observations merged into each row (q, rows)."""
        return np.ascontiguousarray(self.factor.solve(Kqz.T[self.ids]).T)


@dataclass(frozen=True)
class Regressed:
    """One regressed target: f(x) = k(x, points) @ full = (L⁻¹k(rows, x))ᵀ half; solved when first asked for.

    Attributes:
        regression: the regression as it was.
        y: mean target of each row (rows,).
    """

    regression: Snapshot
    y: FloatArray

    @cached_property
    def half(self) -> FloatArray:
        """L⁻¹y (rows,)."""
        return self.regression.factor.half_solve(self.y)

    @cached_property
    def full(self) -> FloatArray:
        """(K + λ diag(1/count))⁻¹y by id of point (m,); only queries away from the support need it."""
        coef = self.regression.factor.back_solve(self.half)
        return _sum_by(self.regression.ids, coef, len(self.regression.points))


class RidgeRegression:
    """Kernel ridge regression of (reward, next state) on points; rows are appended, repeats merged.

    Attributes:
        points: the distinct inputs, by id.
        factor: Cholesky factor of K + λ diag(1/count) over the rows.
        information_gain: ½ Σ log(1 + w_i) over all observations.
        sum_r: Σ w_i/(1+w_i) over all observations in the order of arrival.
        generation: increases whenever rows were merged, so that caches over rows know to start again.
    """

    def __init__(self, kernel: Kernel, lam: float) -> None:
        self.kernel = kernel
        self.lam = lam
        self.points = PointSet()
        self.information_gain = 0.0
        self.sum_r = 0.0
        self.generation = 0
        self._clear_rows()

    def _clear_rows(self) -> None:
        self.factor = Cholesky()
        self._ids = GrowingVector(np.intp)  # row -> id of its point
        self._counts = GrowingVector(np.float64)  # row -> observations merged into it
        self._rewards = GrowingVector(np.float64)  # row -> sum of their rewards
        # How often each row saw each next state; -1 stands for a terminated one.
        self._pair_row = GrowingVector(np.intp)
        self._pair_next = GrowingVector(np.intp)
        self._pair_count = GrowingVector(np.float64)

    @property
    def ids(self) -> IntArray:
        """Id of the point behind each row (rows,)."""
        return self._ids.view

    @property
    def counts(self) -> FloatArray:
        """Observations merged into each row (rows,)."""
        return self._counts.view

    def append(self, X: Points, next_ids: IntArray, rewards: FloatArray) -> IntArray:
        """Add observations in order and return the ids of their points (k,).

        Args:
            X: inputs (k, d).
            next_ids: index of each next state, -1 where terminated (k,).
            rewards: (k,).
        """
        ids: list[IntArray] = []
        start = 0
        while start < len(X):
            rows = slice(start, start + max(CHUNK, len(self.points)))
            ids.append(self._append_chunk(X[rows], next_ids[rows], rewards[rows]))
            if self.factor.n > max(2 * len(self.points), 32):
                self._merge_repeats()
            start = rows.stop
        return np.concatenate(ids) if ids else np.empty(0, dtype=np.intp)

    def _append_chunk(self, X: Points, next_ids: IntArray, rewards: FloatArray) -> IntArray:
        k, rows = len(X), self.factor.n
        K21 = self.kernel(X, self.points.points)[:, self.ids] if rows else np.empty((k, 0))
        pivots = self.factor.append(K21, self.kernel(X), self.lam)
        gains = np.maximum(pivots**2 / self.lam, 1.0)  # 1 + w_i
        self.information_gain += 0.5 * float(np.sum(np.log(gains)))
        self.sum_r += float(np.sum(1.0 - 1.0 / gains))
        ids = self.points.add(X)
        self._ids.extend(ids)
        self._counts.extend(np.ones(k))
        self._rewards.extend(rewards)
        self._pair_row.extend(np.arange(rows, rows + k))
        self._pair_next.extend(next_ids)
        self._pair_count.extend(np.ones(k))
        return ids

    def _merge_repeats(self) -> None:
        m = len(self.points)
        counts = _sum_by(self.ids, self.counts, m)
        rewards = _sum_by(self.ids, self._rewards.view, m)
        # Merge equal (point, next state) pairs by coding each as one integer.
        width = int(self._pair_next.view.max()) + 2
        code = self.ids[self._pair_row.view] * width + self._pair_next.view + 1
        pairs, where = np.unique(code, return_inverse=True)
        pair_counts = _sum_by(where, self._pair_count.view, len(pairs))
        K = self.kernel(self.points.points)
        jitter = self.factor.jitter
        self._clear_rows()
        self.factor.append(np.empty((m, 0)), K, self.lam / counts)
        self.factor.jitter = max(jitter, self.factor.jitter)
        self._ids.extend(np.arange(m))
        self._counts.extend(counts)
        self._rewards.extend(rewards)
        self._pair_row.extend(pairs // width)
        self._pair_next.extend(pairs % width - 1)
        self._pair_count.extend(pair_counts)
        self.generation += 1

    def targets(self, v: FloatArray, reward: float) -> FloatArray:
        """Mean target of each row (rows,); the last entry of v is the value of a terminated state."""
        rows = self.factor.n
        weighted = self._pair_count.view * v[self._pair_next.view]
        total = _sum_by(self._pair_row.view, weighted, rows)
        if reward:
            total += reward * self._rewards.view
        return np.asarray(total / self.counts)

    def solve(self, y: FloatArray) -> Regressed:
        """The regression of targets y (rows,)."""
        return Regressed(self.snapshot(), y)

    def snapshot(self) -> Snapshot:
        """This regression as it is now; later observations do not change it."""
        points = self.points.points
        return Snapshot(self.kernel, points[: len(points)], self.factor, self.ids, self.counts, self.lam)

    def next_state_weights(self, Kqz: FloatArray, out: FloatArray) -> None:
        """Add to out (q, m_next) the weight that each non-terminal next state receives at the queries."""
        alive = self._pair_next.view >= 0
        rows, nexts = self._pair_row.view[alive], self._pair_next.view[alive]
        share = self._pair_count.view[alive] / self.counts[rows]
        np.add.at(out.T, nexts, (self.snapshot().row_weights(Kqz)[:, rows] * share).T)

    def observation_weights(self, Kqz: FloatArray) -> FloatArray:
        """α of a single observation at each distinct point (q, m); repeats of a point share its weight."""
        weights = np.empty_like(Kqz)
        weights[:, self.ids] = self.snapshot().row_weights(Kqz) / self.counts
        return weights


def check_ridge(lam: float) -> float:
    """λ as a float, or one sentence on why it cannot be."""
    if isinstance(lam, str) or not np.isfinite(lam) or lam <= 0:
        raise InputError(f"lam must be a positive number, not {lam!r}")
    return float(lam)


def _sum_by(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Sums of the values that share an index (size,)."""
    return np.asarray(np.bincount(index, values, size), dtype=np.float64)
