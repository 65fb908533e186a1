"""Kernels on permutations, from concordant pairs."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.kernels.base import FloatArray, Points
from cmerl.kernels.structured import ObjectKernel
from cmerl.validation.points import positive


@dataclass(frozen=True)
class _OrderKernel(ObjectKernel):
    """Orders of the numbers 0 … n−1 (or of any n numbers, the same in all): rows of an array, or sequences.

    An order lists items from first to last, as a route does; ``ranks`` says that points give the rank of each item.
    """

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m)."""
        first, second = len(X), len(X) if Y is None else len(Y)
        if first and second:
            a, b = len(X[0]), len((X if Y is None else Y)[0])
            if a != b:
                raise InputError(f"orders must have one length, but have {a} and {b} items")
        return super().__call__(X, Y)

    @property
    def bound(self) -> float:
        """1: k(x, x) = 1."""
        return 1.0

    def read_all(self, X: Points) -> list[Any]:
        """For each order, which of two items comes first (n, pairs); raises with the position of what is no order."""
        if not (isinstance(X, np.ndarray) and X.ndim == 2):
            return super().read_all(X)
        ordered = np.sort(X, axis=1)
        repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if repeated.any():
            super().read_all(X[repeated.argmax() :][:1])
        return list(self._signs(X))

    def _read(self, x: Any) -> NDArray[np.int8]:
        row = np.asarray(x)
        if row.ndim != 1 or row.dtype.kind not in "iuf":
            raise InputError(f"an order is a row of different numbers, but this is {x!r}")
        if len(np.unique(row)) < len(row):
            raise InputError(f"an order has every item once, but this is {row.tolist()}")
        return np.asarray(self._signs(row[None])[0])

    def _signs(self, X: NDArray[Any]) -> NDArray[np.int8]:
        """Which of two items comes first (n, pairs), of orders (n, items)."""
        # The items by size, then the place of each; a rank is a place already.
        ranks = X if getattr(self, "ranks", False) else np.argsort(X, axis=1, kind="stable")
        i, j = np.triu_indices(X.shape[1], 1)
        return np.sign(ranks[:, i] - ranks[:, j]).astype(np.int8)

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        a, b = _stack(A), _stack(B)
        if a.shape[1] == 0:
            return np.ones((len(A), len(B)))
        return self._of_agreement(a @ b.T, a.shape[1])

    def _diag(self, A: list[Any]) -> FloatArray:
        return np.ones(len(A))

    @abstractmethod
    def _of_agreement(self, agreement: FloatArray, pairs: int) -> FloatArray:
        """The kernel (n, m) from concordant minus discordant pairs, of so many."""


@dataclass(frozen=True)
class Kendall(_OrderKernel):
    """Kendall's τ: concordant minus discordant pairs, over all pairs; in [−1, 1] [Jiao & Vert 2015].

    Args:
        ranks: True if points hold the rank of each item instead of the items in order.
    """

    ranks: bool = False

    def _of_agreement(self, agreement: FloatArray, pairs: int) -> FloatArray:
        return agreement / pairs


@dataclass(frozen=True)
class Mallows(_OrderKernel):
    """exp(−decay · discordant pairs): universal on permutations [Mania et al. 2018].

    Args:
        decay: Rate per discordant pair.
        ranks: True if points hold the rank of each item instead of the items in order.
    """

    decay: float = 0.2
    ranks: bool = False

    def __post_init__(self) -> None:
        self._store("decay", positive("decay", self.decay))

    @property
    def nonnegative(self) -> bool:
        """True."""
        return True

    def _of_agreement(self, agreement: FloatArray, pairs: int) -> FloatArray:
        K: FloatArray = np.exp(-self.decay * (pairs - agreement) / 2.0)
        return K


def _stack(A: list[Any]) -> FloatArray:
    lengths = {len(x) for x in A}
    if len(lengths) > 1:
        sizes = sorted((1 + math.isqrt(1 + 8 * n)) // 2 for n in lengths)
        raise InputError(f"orders must have one length, but have {sizes} items")
    return np.array(A, dtype=np.float64)
