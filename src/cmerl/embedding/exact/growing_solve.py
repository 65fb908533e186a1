"""W = L⁻¹k(rows, queries) as both the rows of a factor and the queries grow: each entry is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cmerl.growing import Arrays, GrowingMatrix, nested, part
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky
from cmerl.transitions import Points, PointSet, take

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Entries = Callable[[IntArray, slice], FloatArray]
"""Values (r, k) between the points with given ids (r,) and a range of k queries."""


class Rows(Protocol):
    """Something with an append-only factor over points: a regression, or a dictionary."""

    kernel: Kernel
    points: PointSet
    factor: Cholesky
    generation: int

    @property
    def ids(self) -> IntArray:
        """Id of the point behind each row of the factor."""
        ...


class GrowingSolve:
    """W = L⁻¹k(rows, queries) and k(q, q) − ‖W‖², as both the rows and the queries grow.

    New rows reduce the variance by their squares; new queries are new columns. For a regression the variance is
    σ²; for a dictionary W are coordinates and the variance is the residual.

    Solving a few new rows reads all of W. With ``defer`` up to that many rows wait as plain kernel values, and the
    variance is not kept; ``project`` is exact all the same.
    """

    def __init__(self, rows: Rows, defer: int = 0) -> None:
        self.rows = rows
        self._defer = defer
        self._clear()

    def _clear(self) -> None:
        self._generation = self.rows.generation
        self._W = GrowingMatrix()
        self._solved = 0  # leading rows that are L⁻¹k; the others still are k
        self.variance = np.empty(0)

    def undo(self) -> Callable[[], None]:
        """Turns back what changes in place: rows that wait to be solved, and the variance."""
        W, first, variance = self._W.view, self._solved, self.variance
        waiting, own = W[first:].copy(), variance.copy()

        def undo() -> None:
            W[first:], variance[:] = waiting, own

        return undo

    def arrays(self) -> Arrays:
        """All that is kept."""
        own = {"solved": np.array(self._solved), "variance": self.variance}
        return {**own, **nested({"W": self._W.arrays()})}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved, with rows as they were then."""
        self._generation = self.rows.generation
        self._W = GrowingMatrix.from_arrays(part(arrays, "W"))
        self._solved = int(arrays["solved"].item())
        self.variance = arrays["variance"].copy()

    @property
    def W(self) -> FloatArray:
        """L⁻¹k(rows, queries) (rows, q), if nothing is deferred."""
        return self._W.view

    def project(self, half: FloatArray) -> FloatArray:
        """Wᵀ half (q,) for half = L⁻¹y (rows,)."""
        return self.rows.factor.back_solve_from(self._solved, half) @ self._W.view

    def refresh(self, queries: Points) -> None:
        """Extend to the current rows and to the given queries, which continue those given before."""
        kernel, points = self.rows.kernel, self.rows.points.points
        r0, q0 = self.extend(len(queries), lambda ids, columns: kernel(take(points, ids), queries[columns]))
        if not self._defer:
            W = self._W.view
            self.variance[:q0] -= np.einsum("rq,rq->q", W[r0:, :q0], W[r0:, :q0])
            if len(queries) > q0:
                fresh = kernel.diag(queries[q0:]) - np.einsum("rq,rq->q", W[:, q0:], W[:, q0:])
                self.variance = np.concatenate([self.variance, fresh])

    def extend(self, q: int, entries: Entries) -> tuple[int, int]:
        """Extend to the current rows and to q columns of the given entries; returns the shape before."""
        if self._generation != self.rows.generation:
            self._clear()
        factor, ids = self.rows.factor, self.rows.ids
        (r0, q0), r = self._W.shape, factor.n
        W = self._W.resize(r, q)
        if r > r0 and q0:
            W[r0:, :q0] = entries(ids[r0:], slice(0, q0))
        old, self._solved = self._solved, r if r - self._solved > self._defer else self._solved
        if self._solved > old and q0:
            factor.half_solve_from(old, W[: self._solved, :q0])
        if q > q0 and r:
            W[:, q0:] = entries(ids, slice(q0, q))
            factor.half_solve_from(0, W[: self._solved, q0:])
        return r0, q0
