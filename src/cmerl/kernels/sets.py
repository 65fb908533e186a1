"""Kernels on sets, bags and collections of points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.kernels.base import FloatArray, Kernel, UnitDiagonal
from cmerl.kernels.discrete import Delta
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.structured import CountKernel, Counts, ObjectKernel, counts_matrix, squares

Items = tuple[tuple[Any, float], ...]


@dataclass(frozen=True)
class Intersection(CountKernel):
    """|x ∩ y| of sets, divided by √(|x| |y|) if ``normalized``; the empty set equals only itself."""

    normalized: bool = True

    def _read(self, x: Any) -> frozenset[Any]:
        return frozenset(item for item, _ in read_bag(x))

    def _count(self, form: Any) -> Counts:
        return dict.fromkeys(form, 1.0)


@dataclass(frozen=True)
class _Ratio(UnitDiagonal, ObjectKernel):
    def _diag(self, A: list[Any]) -> FloatArray:
        return np.ones(len(A))


@dataclass(frozen=True)
class Jaccard(_Ratio):
    """|x ∩ y| / |x ∪ y| of sets, positive definite [Gower 1971]; two empty sets are equal."""

    def _read(self, x: Any) -> dict[Any, float]:
        return dict.fromkeys((item for item, _ in read_bag(x)), 1.0)

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        a, b = counts_matrix(A, None if B is A else B)
        common: FloatArray = np.asarray((a @ b.T).todense(), dtype=np.float64)
        union = np.add.outer(squares(a), squares(b)) - common
        return np.where(union > 0.0, common / np.where(union > 0.0, union, 1.0), 1.0)


@dataclass(frozen=True)
class MinMax(_Ratio):
    """Σ min(x_f, y_f) / Σ max(x_f, y_f) of bags, the Jaccard kernel with counts [Ralaivola et al. 2005].

    A bag is a mapping from items to counts, or a sequence with repeats.
    """

    def _read(self, x: Any) -> dict[Any, float]:
        return dict(read_bag(x))

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        a, b = (m.toarray() for m in counts_matrix(A, B))
        least = np.zeros((len(A), len(B)))
        for f in range(a.shape[1]):
            least += np.minimum.outer(a[:, f], b[:, f])
        most = np.add.outer(a.sum(axis=1), b.sum(axis=1)) - least
        return np.where(most > 0.0, least / np.where(most > 0.0, most, 1.0), 1.0)


@dataclass(frozen=True)
class MeanMap(ObjectKernel):
    """The mean of an element kernel over all pairs, ⟨mean of ψ over x, mean of ψ over y⟩, for collections of points.

    Args:
        kernel: Kernel on elements, such as ``RBF(0.3)`` for collections of points; `Delta` compares distributions of
            items.
    """

    kernel: Kernel = field(default_factory=Delta)

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))

    @property
    def bound(self) -> float:
        """That of the element kernel."""
        return self.kernel.bound

    @property
    def nonnegative(self) -> bool:
        """That of the element kernel."""
        return self.kernel.nonnegative

    def _read(self, x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.ndim == 2:
            elements: Any = x.astype(np.float64)
        elif isinstance(x, Iterable) and not isinstance(x, str | Mapping):
            elements = sorted(x, key=repr) if isinstance(x, set | frozenset) else list(x)
        else:
            raise InputError(f"a {type(x).__name__} is not a collection of elements")
        if not len(elements):
            raise InputError("it is empty, and has no mean")
        return elements

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        left, right = _averages(A), _averages(B)
        K: FloatArray = left @ self.kernel(_together(A), _together(B)) @ right.T
        return (K + K.T) / 2.0 if B is A else K

    def _diag(self, A: list[Any]) -> FloatArray:
        return np.array([self.kernel(_together([x])).mean() for x in A])


def _together(A: list[Any]) -> Any:
    """All elements, one after the other: rows of an array where they are vectors."""
    if all(isinstance(x, np.ndarray) for x in A):
        return np.vstack(A)
    elements = [element for x in A for element in x]
    if all(isinstance(e, np.ndarray) and e.ndim == 1 for e in elements):
        return np.vstack(elements)
    if all(isinstance(e, tuple) and all(isinstance(v, int | float) for v in e) and len(e) for e in elements):
        return np.array(elements, dtype=np.float64)
    return elements


def _averages(A: list[Any]) -> FloatArray:
    """The matrix (n, elements) that averages over each collection."""
    sizes = np.array([len(x) for x in A])
    return np.repeat(np.eye(len(A)) / sizes, sizes, axis=1)


def read_bag(x: Any) -> Items:
    """Items with their counts: of a set, a mapping to counts, or a sequence with repeats."""
    if isinstance(x, np.ndarray):
        x = x.tolist()
    if isinstance(x, str) or not isinstance(x, Iterable):
        raise InputError(f"a {type(x).__name__} is not a set: give a set, a sequence of items or a mapping to counts")
    pairs: Iterable[tuple[Any, float]] = x.items() if isinstance(x, Mapping) else _counted(x)
    items = tuple((item, _amount(item, count)) for item, count in pairs)
    return tuple((item, count) for item, count in items if count > 0.0)


def _counted(x: Iterable[Any]) -> Iterable[tuple[Any, float]]:
    try:
        return Counter(x).items()
    except TypeError:
        raise InputError("it holds an item that is not hashable") from None


def _amount(item: Any, count: Any) -> float:
    try:
        amount = float(count)
    except (TypeError, ValueError):
        amount = float("nan")
    if not 0.0 <= amount < float("inf"):
        raise InputError(f"the count of {item!r} must be a finite number, at least 0, but is {count!r}")
    return amount
