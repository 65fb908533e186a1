"""The global alignment kernel: a sum over all alignments of two sequences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, KernelError
from cmerl.kernels.base import FloatArray, Kernel, UnitDiagonal
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.structured import ObjectKernel, as_sequence

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class GlobalAlignment(UnitDiagonal, ObjectKernel):
    """k(x, y) = Σ over alignments of Π κ(x_i, y_j), divided by √(k(x, x) k(y, y)) [Cuturi et al. 2007, Cuturi 2011].

    An alignment is a path of pairs (i, j) from the first symbols to the last that moves on in x, in y or in both.
    Edit distances do not give a positive definite kernel. This sum does, because κ = κ₀/(2 − κ₀) makes κ/(1 + κ) =
    κ₀/2 positive definite. The empty sequence equals only itself.

    Args:
        likeness: κ₀ of two different symbols in [0, 1); equal ones have 1. Near 1 the kernel is wide.
        local: κ₀ as a kernel with k(x, x) = 1 and values in [0, 1], such as ``RBF(0.5)`` for sequences of vectors;
            then ``likeness`` is not used.
        block: Number of sequences whose pairs are computed together.
    """

    likeness: float = 0.5
    local: Kernel | None = None
    block: int = field(default=100, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.likeness < 1.0:
            raise KernelError(f"likeness must lie from 0 to below 1, got {self.likeness!r}.")
        if self.local is not None:
            self._store("local", as_kernel(self.local))

    def _read(self, x: Any) -> Any:
        if self.local is None:
            return as_sequence(x)
        try:
            rows = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("it is not a sequence of vectors of one length") from None
        if rows.ndim == 1:
            rows = rows[:, None]
        if rows.ndim < 2:
            raise InputError("it is a number, not a sequence")
        rows = rows.reshape(len(rows), -1)
        if not np.isfinite(rows).all():
            raise InputError(f"element {int(np.argmin(np.isfinite(rows).all(axis=1)))} is NaN or infinite")
        return tuple(map(tuple, rows.tolist()))

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        some, others = ([i for i, x in enumerate(P) if len(x)] for P in (A, B))
        if len(some) == len(A) and len(others) == len(B):
            return self._aligned(A, B)
        K = np.equal.outer([len(x) == 0 for x in A], [len(y) == 0 for y in B]).astype(np.float64)
        if some and others:
            left = [A[i] for i in some]
            K[np.ix_(some, others)] = self._aligned(left, left if B is A else [B[j] for j in others])
        return K

    def _aligned(self, A: list[Any], B: list[Any]) -> FloatArray:
        logs = self._log_matrix(A, B)
        own = self._log_own(A)
        K: FloatArray = np.exp(logs - 0.5 * np.add.outer(own, own if B is A else self._log_own(B)))
        np.minimum(K, 1.0, out=K)
        if B is A:
            K = (K + K.T) / 2.0
            np.fill_diagonal(K, 1.0)
        return K

    def _diag(self, A: list[Any]) -> FloatArray:
        return np.ones(len(A))

    def _log_matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        """Log k before it is normalized (n, m), tile by tile."""
        logs, b = np.empty((len(A), len(B))), self.block
        for i in range(0, len(A), b):
            for j in range(i if B is A else 0, len(B), b):
                rows, columns = A[i : i + b], B[j : j + b]
                tile = self._tile(rows, columns)
                logs[i : i + b, j : j + b] = tile
                if B is A:
                    logs[j : j + b, i : i + b] = tile.T
        return logs

    def _log_own(self, A: list[Any]) -> FloatArray:
        """Log k(x, x) before it is normalized (n,): pairs only, not a matrix."""
        own = np.empty(len(A))
        for i in range(0, len(A), self.block**2):
            some = A[i : i + self.block**2]
            symbols, (codes, lengths) = coded(some)
            kappa = self._kappa(symbols, symbols)
            own[i : i + self.block**2] = align(codes, lengths, codes, lengths, kappa, pairwise=True)
        return own

    def _tile(self, rows: list[Any], columns: list[Any]) -> FloatArray:
        row_symbols, (x, nx) = coded(rows)
        column_symbols, (y, ny) = coded(columns)
        return align(x, nx, y, ny, self._kappa(row_symbols, column_symbols))

    def _kappa(self, first: list[Any], second: list[Any]) -> FloatArray:
        """κ of all symbols (p, q)."""
        if self.local is not None:
            similarity = self.local(np.array(first), np.array(second))
        else:
            places = {s: j for j, s in enumerate(second)}
            similarity = np.full((len(first), len(second)), float(self.likeness))
            for i, s in enumerate(first):
                if s in places:
                    similarity[i, places[s]] = 1.0
        kappa: FloatArray = similarity / (2.0 - similarity)
        return kappa


def coded(sequences: list[Any]) -> tuple[list[Any], tuple[IntArray, IntArray]]:
    """Distinct symbols, and sequences as their numbers (n, longest), filled up with 0, with their lengths (n,)."""
    number: dict[Any, int] = {}
    lengths = np.array([len(s) for s in sequences], dtype=np.intp)
    codes = np.zeros((len(sequences), int(lengths.max())), dtype=np.intp)
    for i, sequence in enumerate(sequences):
        codes[i, : len(sequence)] = [number.setdefault(s, len(number)) for s in sequence]
    return list(number), (codes, lengths)


def align(
    x: IntArray, nx: IntArray, y: IntArray, ny: IntArray, kappa: FloatArray, *, pairwise: bool = False
) -> FloatArray:
    """Log of M(|x|, |y|), M(i, j) = κ(x_i, y_j)[M(i−1, j−1) + M(i−1, j) + M(i, j−1)], for all pairs at once.

    Rows are scaled to have a largest entry of 1, as there are more alignments than a float can count.

    Args:
        x: codes (n, p) with lengths ``nx`` (n,).
        nx: lengths.
        y: codes (m, q) with lengths ``ny`` (m,).
        ny: lengths.
        kappa: κ by codes.
        pairwise: pair each x with the y of the same number, (n,), instead of with all, (n, m).
    """
    shape = (len(x),) if pairwise else (len(x), len(y))
    q = y.shape[1]
    before = np.zeros((q + 1, *shape))  # row i − 1 of M, for every j
    before[0] = 1.0
    scale, result = np.zeros(shape), np.full(shape, -np.inf)
    ends_x = nx if pairwise else np.broadcast_to(nx[:, None], shape)
    ends_y = (ny if pairwise else np.broadcast_to(ny[None, :], shape))[None]
    for i in range(x.shape[1]):
        local = kappa[x[:, i, None], y].T if pairwise else np.moveaxis(kappa[x[:, i]][:, y.T], 1, 0)  # (q, …)
        now = np.empty_like(before)
        now[0] = 0.0
        into = before[:-1] + before[1:]
        for j in range(q):
            np.add(into[j], now[j], out=now[j + 1])
            now[j + 1] *= local[j]
        largest = now.max(axis=0)
        largest[largest == 0.0] = 1.0
        now /= largest
        scale += np.log(largest)
        last = ends_x == i + 1
        if last.any():
            reached = np.take_along_axis(now, ends_y, axis=0)[0]
            with np.errstate(divide="ignore"):
                result[last] = np.log(reached[last]) + scale[last]
        before = now
    return result
