"""Dictionaries: a few points that represent all others up to a tolerance.

With L the Cholesky factor of the dictionary's kernel matrix, a point x has the triangular coordinates
L⁻¹k(dictionary, x): the projection of its feature onto the span of the dictionary. What is left over is the
residual ρ²(x) = k(x, x) − ‖coordinates‖². A point appended to the dictionary adds one coordinate and leaves the
others as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.exact.growing_solve import GrowingSolve
from cmerl.growing import Arrays, nested, part
from cmerl.kernels import Kernel
from cmerl.linalg import Cholesky, pivoted_cholesky
from cmerl.transitions import Points, PointSet, join_points, saveable, take

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

ROUND_OFF = 3e-14  # relative: a residual below this is not a new direction, whatever the tolerance
GROWTH_LIMIT = 20.0  # of a dictionary at tolerance 0: beyond it, coordinates are found anew in a better order


@dataclass(frozen=True)
class FrozenDictionary:
    """A dictionary at one moment: factors only append or are replaced, so these references stay valid."""

    kernel: Kernel
    points: Points
    factor: Cholesky

    def coordinates(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Triangular coordinates (m, k) and residuals ρ² (k,) of points.

        A residual may lie below 0 by what round-off has added to the coordinates: far from a nearly dependent
        dictionary that is far more than 1e-16, but a variance takes back the same amount and stays right.
        """
        diag = self.kernel.diag(X)
        if not len(self.points):
            return np.zeros((0, len(X))), diag
        C = self.factor.half_solve_from(0, self.kernel(self.points, X))
        return C, diag - np.einsum("mk,mk->k", C, C)

    def slopes(self, x: FloatArray, columns: int) -> FloatArray:
        """Derivatives (m, columns) of the coordinates by the last columns of one point (d,)."""
        if not len(self.points):
            return np.zeros((0, columns))
        return self.factor.half_solve(self.kernel.gradient(x, np.asarray(self.points))[:, -columns:])


class Dictionary:
    """Points chosen so that every point seen so far has a residual of at most the tolerance.

    When ``cap`` points are held, nothing more is appended: residuals beyond the tolerance are then reported like
    any other, so that uncertainty stays honest, and the next ``choose`` picks better points.

    Attributes:
        kernel: the kernel on points.
        tolerance: largest residual ρ², relative to k(x, x), that needs no new point.
        cap: most points held.
        candidates: points among which ``choose`` is greedy.
        widen: let ``choose`` raise its tolerance until the cap suffices, so that no region is left out.
        generation: increases whenever the points were selected again.
        growth: how much larger than its pivot any coordinate was; round-off is magnified by it. Choosing the
            largest residual first keeps it at 1, the order of arrival does not.
    """

    def __init__(
        self,
        kernel: Kernel,
        tolerance: float,
        cap: int,
        *,
        candidates: int = 500,
        widen: bool = False,
    ) -> None:
        self._candidates, self._widen = candidates, widen
        self.kernel = kernel
        self.tolerance = tolerance
        self.cap = cap
        self.generation = 0
        self._clear()

    def _clear(self) -> None:
        self.points = PointSet()
        self.factor = Cholesky()
        self.growth = 1.0

    def __len__(self) -> int:
        return self.factor.n

    @property
    def ids(self) -> IntArray:
        """Id of the point behind each row: every point has one row."""
        return np.arange(len(self))

    @property
    def full(self) -> bool:
        """Whether the cap is reached."""
        return len(self) >= self.cap

    def arrays(self) -> Arrays:
        """Points and factor."""
        own = {"points": saveable(self.points.points), "growth": np.array(self.growth)}
        return {**own, **nested({"factor": self.factor.arrays()})}

    def restore(self, arrays: Arrays) -> None:
        """Continue from what was saved."""
        self._clear()
        self.points.add(arrays["points"])
        self.growth = float(arrays["growth"].item())
        self.factor = Cholesky.from_arrays(part(arrays, "factor"))

    def coordinates(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Triangular coordinates (m, k) and residuals ρ² (k,) of points."""
        return self.freeze().coordinates(X)

    def slopes(self, x: FloatArray, columns: int) -> FloatArray:
        """Derivatives (m, columns) of the coordinates by the last columns of one point (d,)."""
        return self.freeze().slopes(x, columns)

    def freeze(self) -> FrozenDictionary:
        """The dictionary as it is now."""
        points = self.points.points
        return FrozenDictionary(self.kernel, points[: len(points)], self.factor)

    def tracker(self) -> GrowingSolve:
        """Coordinates and residuals at a growing list of queries, extended rather than recomputed."""
        return GrowingSolve(self)

    def absorb(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Go through points in order, appending those that the dictionary does not represent yet.

        Returns:
            Coordinates (m, k) with m counted after the appends, and residuals ρ² (k,), both as of each point's
            own turn: points that come later do not change it.
        """
        if not len(X):
            return np.zeros((len(self), 0)), np.zeros(0)
        C, residual = self.coordinates(X)
        threshold = max(self.tolerance, ROUND_OFF) * (residual + np.einsum("mk,mk->k", C, C))
        start = 0
        while not self.full:
            beyond = np.flatnonzero(residual[start:] > threshold[start:])
            if not beyond.size:
                break
            i = start + int(beyond[0])
            row = self._append(take(X, np.array([i])), X, C, residual, i)
            row[:i] = 0.0  # what came before keeps its coordinates and its residual
            later = slice(i, None)
            residual[later] = np.maximum(residual[later] - row[later] ** 2, 0.0)
            residual[i] = 0.0
            C = np.vstack([C, row])
            start = i + 1
        self.growth = max(self.growth, float(np.max(np.abs(C) / self.factor.diag[:, None], initial=0.0)))
        return C, np.maximum(residual, 0.0)

    def _append(self, x: Points, X: Points, C: FloatArray, residual: FloatArray, i: int) -> FloatArray:
        """Append point i of X and return its new coordinate for all of X (k,)."""
        pivot = np.sqrt(residual[i])
        row: FloatArray = (self.kernel(x, X)[0] - C[:, i] @ C) / pivot
        self.factor.append_row(C[:, i], pivot)
        self.points.add(x)
        return row

    def settle(self, before: FrozenDictionary, X: Points) -> FloatArray | None:
        """Put the points in a better order where absorbing X has magnified round-off, and nothing would be lost.

        Only at tolerance 0, where dictionaries span all points seen: they are selected again from those before and X.

        Returns:
            The matrix (m, m_before) that takes coordinates of before to those of now; None where they still hold.
        """
        if self.tolerance > 0.0 or self.growth <= GROWTH_LIMIT:
            return None
        self._clear()
        self.generation += 1
        self._choose_greedily(join_points([before.points, X]), self.tolerance)
        if not len(before.points):
            return np.zeros((len(self), 0))
        C, _ = self.coordinates(before.points)
        return before.factor.half_solve(C.T).T

    def choose(self, X: Points) -> tuple[FloatArray, FloatArray]:
        """Select the points again from X: always the one with the largest residual (pivoted Cholesky).

        From many points the choice is made among some of them and the dictionary so far, which represents them all;
        what is not represented to the tolerance after that is appended in the same order, some points at a time.

        Returns:
            Coordinates (m, k) and residuals ρ² (k,) of X.
        """
        candidates = X
        if len(X) > self._candidates:
            spread = np.linspace(0, len(X) - 1, self._candidates).astype(np.intp)
            candidates = join_points([self.points.points, take(X, spread)])
        self._clear()
        self.generation += 1
        if not len(X):
            return np.zeros((0, 0)), np.zeros(0)
        if candidates is X:
            return self._choose_greedily(X, self.tolerance)
        tolerance = self.tolerance
        while True:
            self._choose_greedily(candidates, tolerance)
            C, residual = self._cover(X, tolerance)
            tolerance *= 4.0
            if not self.full or not self._widen or not 0.0 < tolerance < 1.0:
                return C, residual
            # What comes first would take all the room, and what comes last be left out: coarser, but everywhere.
            self._clear()

    def _cover(self, X: Points, tolerance: float, size: int = 500) -> tuple[FloatArray, FloatArray]:
        """Append points of X that are not represented, largest residual first, a chunk of X at a time.

        Returns:
            Coordinates (m, k) and residuals ρ² (k,) of X.
        """
        done: list[tuple[Points, FloatArray, FloatArray]] = []
        for start in range(0, len(X), size):
            chunk = X[start : start + size]
            C, residual = self.coordinates(chunk)
            threshold = max(tolerance, ROUND_OFF) * self.kernel.diag(chunk)
            while not self.full:
                i = int(np.argmax(residual - threshold))
                if residual[i] <= threshold[i]:
                    break
                row = self._append(take(chunk, np.array([i])), chunk, C, residual, i)
                residual = np.maximum(residual - row**2, 0.0)
                residual[i] = 0.0
                C = np.vstack([C, row])
            done.append((chunk, C, residual))
        parts = [self._extended(*part) for part in done]
        return np.hstack([C for C, _ in parts]), np.maximum(np.concatenate([rest for _, rest in parts]), 0.0)

    def _extended(self, X: Points, C: FloatArray, residual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates and residuals of points, from those that they had before the latest points were appended."""
        have = len(C)
        if have == len(self):
            return C, residual
        C = np.vstack([C, self.kernel(self.points.points[have:], X)])
        self.factor.half_solve_from(have, C)
        return C, residual - np.einsum("mk,mk->k", C[have:], C[have:])

    def _choose_greedily(self, X: Points, tolerance: float) -> tuple[FloatArray, FloatArray]:
        """Pivoted Cholesky of k(X, X), stopped at the tolerance or the cap."""
        K = self.kernel(X)
        C, chosen = pivoted_cholesky(K, max(tolerance, ROUND_OFF), self.cap)
        residual = np.maximum(np.diagonal(K) - np.einsum("mk,mk->k", C, C), 0.0)
        residual[chosen] = 0.0
        self.points.add(take(X, chosen))
        self.factor = Cholesky.from_factor(C[:, chosen].T)
        return C, residual
