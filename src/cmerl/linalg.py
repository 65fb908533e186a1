"""Append-only Cholesky factors: the only module that factorises a matrix.

An agent's data only ever grows, so nothing here is recomputed: new rows are appended to a factor in
O(k n²), and triangular solves run blockwise on views of a preallocated buffer (a LAPACK solve would copy
the view first).
"""

from __future__ import annotations

from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, KernelError
from cmerl.growing import Arrays, GrowingMatrix, nested, part
from cmerl.workspace import check_room

check_room()
from scipy.linalg import eigh  # noqa: E402  (it would wait for memory for ever)
from scipy.linalg.lapack import dpotrf, dpstrf, dtrtri, dtrtrs  # noqa: E402

dpotrf(np.eye(256) @ np.eye(256))  # both libraries have their buffers from here on

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

BLOCK = 384  # diagonal blocks are kept inverted: substitution becomes matrix products of this size
JITTER_LADDER = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # relative to the largest diagonal entry
NEGATIVE_VARIANCE = 1e-7  # relative; below this a negative conditional variance is round-off


def _potrf(A: FloatArray, first_row: int, scale: float) -> tuple[FloatArray, float]:
    """Lower Cholesky factor of A, with the smallest jitter of the ladder that makes it positive definite.

    ``scale`` is the size of what A was computed from: a Schur complement can be all round-off.
    """
    if len(A) == 0:
        return A, 0.0
    info = 0
    for relative in JITTER_LADDER:
        jitter = relative * scale
        # The transposed view is in LAPACK's order: A = UᵀU with U = Lᵀ, and nothing needs to be copied into order.
        U, info = dpotrf((A + jitter * np.eye(len(A)) if jitter else A).T, lower=0, clean=1)
        if info == 0:
            return np.asarray(U.T), jitter
    raise KernelError(
        f"the kernel matrix is not positive definite at row {first_row + info - 1}, even with a jitter of "
        f"{JITTER_LADDER[-1]:g} times its diagonal: check that the kernel is positive semi-definite or raise lam"
    )


def triangular_inverse(L: FloatArray) -> FloatArray:
    """Inverse of a lower triangular matrix (n, n); a well conditioned one, as products with it lose that much."""
    inverse, info = dtrtri(L.T, lower=0)  # the transposed view is in LAPACK's order
    if info != 0:
        raise KernelError(f"the triangular factor is singular at row {info - 1}")
    return np.asarray(inverse.T)


class _Block(NamedTuple):
    """Rows start … stop of a lower factor: what is left of the diagonal block, and the inverse of that block."""

    left: FloatArray
    inverse: FloatArray


class Cholesky:
    """Lower factor L of a growing positive definite matrix A = K + diag(ridge).

    Attributes:
        jitter: the largest jitter that was ever added to a diagonal block (0.0 if none was needed).
    """

    def __init__(self) -> None:
        self._L = GrowingMatrix()
        self._made: list[_Block] = []  # BLOCK rows each, the last one fewer
        self._covered = 0  # rows for which blocks were made
        self._lock = RLock()  # plans keep factors, and may be asked by one thread while another learns
        self.jitter = 0.0

    @classmethod
    def of(cls, K: FloatArray, ridge: FloatArray | float = 0.0) -> Cholesky:
        """Factor of K + diag(ridge) in one go, K (n, n)."""
        factor = cls()
        factor.append(np.empty((len(K), 0)), K, ridge)
        return factor

    @classmethod
    def from_factor(cls, L: FloatArray) -> Cholesky:
        """A factor that is known already, L (n, n) lower triangular."""
        factor = cls()
        factor._L.resize(len(L), len(L))[...] = L
        return factor

    def arrays(self) -> Arrays:
        """The factor and the inverses of its diagonal blocks."""
        inverses = [block.inverse.ravel() for block in self._blocks]
        own = {"inverses": np.concatenate([np.empty(0), *inverses]), "jitter": np.array(self.jitter)}
        return {**own, **nested({"L": self._L.arrays()})}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Cholesky:
        """The factor that was saved, to the last bit of what it will solve."""
        factor = cls()
        factor._L = GrowingMatrix.from_arrays(part(arrays, "L"))
        factor.jitter = float(arrays["jitter"].item())
        sizes = [min(BLOCK, factor.n - start) for start in range(0, factor.n, BLOCK)]
        if arrays["inverses"].size != sum(size * size for size in sizes):
            return factor  # saved in blocks of another size: they are made again when they are asked for
        used = 0
        for start in range(0, factor.n, BLOCK):
            stop = min(start + BLOCK, factor.n)
            size = stop - start
            inverse = arrays["inverses"][used : used + size * size].reshape(size, size)
            left = factor.L[start:stop, :start]
            factor._made.append(_Block(left.copy() if size == BLOCK else left, inverse))
            used += size * size
        factor._covered = factor.n
        return factor

    @property
    def n(self) -> int:
        """Number of rows factorised so far."""
        return self._L.shape[0]

    @property
    def L(self) -> FloatArray:
        """The lower factor (n, n), a view."""
        return self._L.view

    @property
    def diag(self) -> FloatArray:
        """The diagonal of L (n,)."""
        return np.diagonal(self.L)

    @property
    def log_det(self) -> float:
        """The logarithm of det(K + diag(ridge))."""
        return 2.0 * float(np.sum(np.log(self.diag)))

    def append(self, K21: FloatArray, K22: FloatArray, ridge: FloatArray | float) -> FloatArray:
        """Append k rows and return the diagonal of their part of L (k,).

        Args:
            K21: kernel between the new rows and the n old ones (k, n).
            K22: kernel among the new rows (k, k), without the ridge.
            ridge: non-negative diagonal to add, one number or (k,).

        The factor is unchanged when this raises: a pivot below its ridge means that the conditional variance
        of that row is negative, so K is not positive semi-definite.
        """
        n, k = self.n, len(K22)
        ridge = np.broadcast_to(np.asarray(ridge, dtype=np.float64), (k,))
        if not np.all(np.isfinite(K22)) or not np.all(np.isfinite(K21)):
            raise KernelError(f"the kernel returned NaN or infinity for rows {n} to {n + k - 1}")
        L21 = self.half_solve(K21.T).T
        scale = float(np.max(np.abs(np.diagonal(K22)) + ridge, initial=np.finfo(float).tiny))
        S = K22.copy()
        S[np.diag_indices(k)] += ridge
        if n:
            S -= L21 @ L21.T
        L22, jitter = _potrf(S, n, scale)
        pivots = np.diagonal(L22)
        negative = pivots**2 - ridge < -NEGATIVE_VARIANCE * (np.abs(np.diagonal(K22)) + ridge)
        if np.any(negative):
            rows = ", ".join(str(n + i) for i in np.flatnonzero(negative)[:5])
            raise KernelError(
                f"the kernel is not positive semi-definite: the conditional variance of row {rows} is "
                "negative; use a kernel that is"
            )
        with self._lock:
            L = self._L.resize(n + k, n + k)
            L[n:, :n] = L21
            L[n:, n:] = L22
        self.jitter = max(self.jitter, jitter)
        return pivots.copy()

    def append_row(self, row: FloatArray, pivot: float) -> None:
        """Append one row of L that is known already: L21 (n,) and L22 > 0."""
        n = self.n
        with self._lock:
            L = self._L.resize(n + 1, n + 1)
            L[n, :n] = row
            L[n, n] = pivot

    @property
    def _blocks(self) -> list[_Block]:
        """Blocks of all rows; made when they are asked for, so that rows may come one by one."""
        if self._covered < self.n:
            with self._lock:
                self._made, self._covered = self._extended(self._made, self._covered), self.n
        return self._made

    def _extended(self, made: list[_Block], old: int) -> list[_Block]:
        """Blocks of all rows, from those of the first ``old``; a new list, since this may be interrupted."""
        L, made = self.L, list(made)
        for start in range(old - old % BLOCK, self.n, BLOCK):
            stop, have = min(start + BLOCK, self.n), max(old - start, 0)
            known = made.pop() if have else None
            fresh = triangular_inverse(L[start + have : stop, start + have : stop])
            inverse = fresh
            if known is not None:  # only the new rows of the block are worked out
                inverse = np.zeros((stop - start, stop - start))
                inverse[:have, :have], inverse[have:, have:] = known.inverse, fresh
                inverse[have:, :have] = -fresh @ (L[start + have : stop, start : start + have] @ known.inverse)
            # A full block never changes again: a copy of its own is read as one stream.
            left = L[start:stop, :start]
            made.append(_Block(left.copy() if stop - start == BLOCK else left, inverse))
        return made

    def half_solve(self, B: FloatArray) -> FloatArray:
        """L⁻¹B for B (r,) or (r, q); r < n solves with the leading r rows, the factor as it was then."""
        return self.half_solve_from(0, np.array(B, dtype=np.float64))

    def half_solve_from(self, row: int, X: FloatArray) -> FloatArray:
        """Finish L⁻¹B in place where the first ``row`` rows of X are solved already and the rest hold B."""
        start, r, blocks = row, self._check_rows(X), self._blocks
        while start < r:
            b = start // BLOCK
            lo, stop = b * BLOCK, min((b + 1) * BLOCK, r)
            left, inverse = blocks[b]
            here = slice(start - lo, stop - lo)
            if lo:
                X[start:stop] -= left[here] @ X[:lo]
            if start > lo:  # inside a block: its solved rows count as well
                X[start:stop] -= self.L[start:stop, lo:start] @ X[lo:start]
            # A diagonal part of the inverse of a lower triangle is the inverse of that part.
            X[start:stop] = inverse[here, here] @ X[start:stop]
            start = stop
        return X

    def solve(self, B: FloatArray) -> FloatArray:
        """(K + diag(ridge))⁻¹B for B (r,) or (r, q); r < n solves with the leading r rows."""
        if len(B) == self.n <= BLOCK and self.n:
            inverse = self._blocks[0].inverse
            return np.asarray(inverse.T @ (inverse @ B))
        return self._back_solve(self.half_solve(B))

    def back_solve(self, B: FloatArray) -> FloatArray:
        """L⁻ᵀB for B (r,) or (r, q), which turns L⁻¹y into (K + diag(ridge))⁻¹y."""
        return self._back_solve(np.array(B, dtype=np.float64))

    def back_solve_from(self, row: int, B: FloatArray) -> FloatArray:
        """Back substitution through the rows from ``row`` on only, for B (r,).

        With X = L⁻¹K this turns a product y = Xᵀb into one with X[:row] solved and K[row:] as it was.
        """
        x, r = np.array(B, dtype=np.float64), self._check_rows(B)
        if row < r:
            x[row:] = self.tail_solve(row, x[row:], transposed=True)
            x[:row] -= self.L[row:r, :row].T @ x[row:]
        return x

    def tail_solve(self, row: int, B: FloatArray, *, transposed: bool = False) -> FloatArray:
        """L₂₂⁻¹B, or L₂₂⁻ᵀB, for the block L₂₂ of L below and right of ``row`` and B (n − row,) or (n − row, q)."""
        r = row + len(B)
        x, info = dtrtrs(self.L[row:r, row:r].T, B, lower=0, trans=0 if transposed else 1)
        if info != 0:
            raise KernelError(f"the triangular factor is singular at row {row + info - 1}")
        return np.asarray(x)

    def _back_solve(self, X: FloatArray) -> FloatArray:
        r, blocks = self._check_rows(X), self._blocks
        for lo in reversed(range(0, r, BLOCK)):
            rows = min(lo + BLOCK, r) - lo
            left, inverse = blocks[lo // BLOCK]
            X[lo : lo + rows] = inverse[:rows, :rows].T @ X[lo : lo + rows]
            if lo:
                X[:lo] -= left[:rows].T @ X[lo : lo + rows]
        return X

    def _check_rows(self, X: FloatArray) -> int:
        if len(X) > self.n:
            raise InputError(f"the right-hand side has {len(X)} rows but the factor has {self.n}")
        return len(X)

    def quadratic(self, B: FloatArray) -> FloatArray:
        """diag(Bᵀ(K + diag(ridge))⁻¹B) (q,) for B (n, q)."""
        half = self.half_solve(B)
        return np.asarray(np.einsum("iq,iq->q", half, half))


def pivots(A: FloatArray) -> FloatArray:
    """Squared diagonal (n,) of the Cholesky factor of A: the factors by which det A grows row by row."""
    squares: FloatArray = np.diagonal(_potrf(A, 0, float(np.max(np.diagonal(A), initial=1.0)))[0]) ** 2
    return squares


def pivoted_cholesky(K: FloatArray, tolerance: float, most: int) -> tuple[FloatArray, IntArray]:
    """K ≈ CᵀC from few rows of K (n, n): next is the one whose residual K_ii − ‖C_i‖² is largest, relative to K_ii.

    Returns:
        C (m, n) with m ≤ most, and the rows chosen (m,), in whose order C is triangular; residuals relative to K_ii
        are at most the tolerance, unless m = most.
    """
    scale = np.sqrt(np.diagonal(K))
    scale = np.where(scale > 0.0, scale, 1.0)
    if np.any(scale != 1.0):
        K = K / np.outer(scale, scale)
    A, order, rank, _ = dpstrf(K, tol=tolerance, lower=1)
    order, m = order.astype(np.intp) - 1, min(int(rank), most)
    C = np.empty((m, len(K)))
    C[:, order] = np.tril(A[:, :m]).T * scale[order]
    return C, order[:m]


def pivoted_rows(K: FloatArray, tolerance: float) -> IntArray:
    """Rows of K (n, n) that span it up to a residual of ``tolerance``, the one with the largest residual first."""
    _, order, rank, _ = dpstrf(K, tol=tolerance, lower=1)
    return np.asarray(order[:rank].astype(np.intp) - 1)


def random_rotation(d: int, rng: np.random.Generator) -> FloatArray:
    """A uniformly distributed orthogonal matrix (d, d)."""
    Q, R = np.linalg.qr(rng.standard_normal((d, d)))
    return np.asarray(Q * np.sign(np.diagonal(R)))


def largest_eigenvalue(A: FloatArray) -> float:
    """Largest eigenvalue of a symmetric matrix (n, n)."""
    n = len(A)
    return float(eigh(A, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])


def solve_small(M: FloatArray, b: FloatArray) -> FloatArray:
    """M⁻¹b for a small square matrix that need not be symmetric, as in control problems."""
    return np.asarray(np.linalg.solve(M, b))


def spectrum(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (n,), largest first, and eigenvectors in the columns (n, n) of a symmetric matrix."""
    values, vectors = eigh(A)
    return np.asarray(values[::-1]), np.asarray(vectors[:, ::-1])
