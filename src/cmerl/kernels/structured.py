"""The base of kernels on objects: conversion with clear errors, and counts as explicit features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cmerl.errors import InputError
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.objects import freeze, key

Counts = Mapping[Hashable, float]


@dataclass(frozen=True)
class ObjectKernel(Kernel):
    """A kernel on lists of objects. Each object is converted once; errors name its position."""

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m), for two lists; ``Y=None`` means ``X``."""
        first = self.read_all(X)
        second = first if Y is None or Y is X else self.read_all(Y)
        if not first or not second:
            return np.zeros((len(first), len(second)))
        return self._matrix(first, second)

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], shape (n,)."""
        forms = self.read_all(X)
        return self._diag(forms) if forms else np.zeros(0)

    def read_all(self, X: Points) -> list[Any]:
        """The kernel's form of each object; raises `InputError` with the position of an invalid one."""
        forms = []
        for i, x in enumerate(X):
            try:
                forms.append(self._read(x))
            except InputError as error:
                raise InputError(f"{type(self).__name__} cannot read object {i}: {error}") from None
        return forms

    @abstractmethod
    def _read(self, x: Any) -> Any:
        """The kernel's form of one object."""

    @abstractmethod
    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        """The matrix (n, m) of forms, neither list empty; ``B is A`` when a symmetric one is wanted."""

    @abstractmethod
    def _diag(self, A: list[Any]) -> FloatArray:
        """The diagonal (n,) of forms."""


NOTHING = ("nothing",)
"""The feature of objects that have no other: alike with each other, unlike all the rest."""


@dataclass(frozen=True)
class CountKernel(ObjectKernel):
    """k(x, y) = Σ_f c_f(x)·c_f(y) over counted features; with ``normalized`` divided by √(k(x, x) k(y, y))."""

    @property
    def bound(self) -> float:
        """1 if normalized, else infinite."""
        return 1.0 if self._normalized else float("inf")

    @property
    def nonnegative(self) -> bool:
        """True: counts are non-negative."""
        return True

    @property
    def _normalized(self) -> bool:
        return bool(getattr(self, "normalized", True))

    @abstractmethod
    def _count(self, form: Any) -> Counts:
        """Features of one object with their counts."""

    def features(self, X: Points) -> list[Counts]:
        """The features counted in each object."""
        return [dict(_counted(self, form)) for form in self.read_all(X)]

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        a, b = counts_matrix([_counted(self, x) for x in A], None if B is A else [_counted(self, x) for x in B])
        K: FloatArray = np.asarray((a @ b.T).todense(), dtype=np.float64)
        if B is A:
            K = (K + K.T) / 2.0  # exactly symmetric, also where counts are no whole numbers
        if self._normalized:
            K /= np.sqrt(np.multiply.outer(squares(a), squares(b)))
            np.minimum(K, 1.0, out=K)
        return K

    def _diag(self, A: list[Any]) -> FloatArray:
        if self._normalized:
            return np.ones(len(A))
        return squares(counts_matrix([_counted(self, x) for x in A])[0])


@lru_cache(maxsize=50_000)
def _counted(kernel: CountKernel, form: Hashable) -> Counts:
    """Features are counted once for each object, for as long as it is in use."""
    found = kernel._count(form)
    return found if found or not kernel._normalized else {NOTHING: 1.0}


def counts_matrix(A: Sequence[Counts], B: Sequence[Counts] | None = None) -> tuple[csr_array, csr_array]:
    """Sparse matrices (n, f) and (m, f) of the same features; the same object twice if ``B`` is None."""
    column: dict[Hashable, int] = {}
    for feature in chain.from_iterable(chain(A, B or ())):
        column.setdefault(feature, len(column))
    first = _rows(A, column)
    return first, first if B is None else _rows(B, column)


def _rows(A: Sequence[Counts], column: Mapping[Hashable, int]) -> csr_array:
    stops = np.cumsum([0, *(len(counts) for counts in A)])
    columns = np.fromiter((column[f] for counts in A for f in counts), dtype=np.int64, count=int(stops[-1]))
    values = np.fromiter((c for counts in A for c in counts.values()), dtype=np.float64, count=int(stops[-1]))
    return csr_array((values, columns, stops), shape=(len(A), max(len(column), 1)))


def squares(a: csr_array) -> FloatArray:
    """Squared norms of the rows (n,)."""
    return np.asarray(a.multiply(a).sum(axis=1), dtype=np.float64).ravel()


def as_sequence(x: Any) -> Any:
    """A string as it is, another sequence as a tuple of hashable symbols; what is neither is refused."""
    return x if isinstance(x, str) else _symbols(x)


def _symbols(x: Any) -> tuple[Any, ...]:
    if isinstance(x, np.ndarray):
        x = x.tolist()
    if not isinstance(x, Sequence) or isinstance(x, bytes):
        raise InputError(f"a {type(x).__name__} is neither a string nor a sequence of symbols")
    return tuple(_symbol(s, i) for i, s in enumerate(x))


def _symbol(s: Any, position: int) -> Hashable:
    try:
        hash(s)
        plain: Hashable = s.item() if isinstance(s, np.generic) else s
        return plain
    except TypeError:  # an array, a mapping: known by its content
        try:
            return key(freeze(s))
        except InputError as error:
            raise InputError(f"symbol {position}: {error}") from None


def check_symbols(x: Any, alphabet: Sequence[Any]) -> None:
    """Raises `InputError` at the first symbol outside the alphabet."""
    for i, symbol in enumerate(x):
        if symbol not in alphabet:
            raise InputError(f"symbol {i}, {symbol!r}, is not in the alphabet")
