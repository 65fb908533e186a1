"""Kernels of equality, for finite sets, strings and objects of any kind."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.kernels.base import FloatArray, Kernel, Points, UnitDiagonal
from cmerl.validation.points import as_pair


@dataclass(frozen=True)
class _Matching(UnitDiagonal, Kernel):
    """A kernel of the coordinates in which x and y are equal; objects are first given labels."""

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m), for two arrays or two lists; ``Y=None`` means ``X``."""
        return self._matrix(*self._rows(X, Y))

    def diag(self, X: Points) -> FloatArray:
        """Ones, shape (n,)."""
        return np.ones(len(self._rows(X, None)[0]))

    def _rows(self, X: Points, Y: Points | None) -> tuple[FloatArray, FloatArray]:
        """Both arguments as arrays of shape (n, d) and (m, d) that agree where the points agree."""
        if _is_array(X) or (Y is not None and _is_array(Y)):
            return as_pair(X, Y)
        labels = self._label(list(X) if Y is None else [*X, *Y])
        return labels[: len(X)], labels if Y is None else labels[len(X) :]

    @abstractmethod
    def _label(self, items: list[Any]) -> FloatArray:
        """Rows of labels, shape (n, d), for a list of objects."""

    @abstractmethod
    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """The kernel matrix, shape (n, m), of rows (n, d) and (m, d)."""


@dataclass(frozen=True)
class Delta(_Matching):
    """The indicator k(x, y) = 1 if x = y, else 0: points share no information.

    Rows of arrays are equal if all their numbers are exactly equal; items of lists are compared by ``==``.
    """

    def _label(self, items: list[Any]) -> FloatArray:
        return _labels(items)[:, None]

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        equal = np.equal.outer(X[:, 0], Y[:, 0])
        for j in range(1, X.shape[1]):  # column by column, so that no (n, m, d) array is ever made
            equal &= np.equal.outer(X[:, j], Y[:, j])
        return equal.astype(np.float64)


@dataclass(frozen=True)
class Hamming(_Matching):
    """The fraction of coordinates in which x and y are equal: the mean of one `Delta` per coordinate.

    Points are rows of arrays, or strings or other sequences, all of the same length.
    """

    def _label(self, items: list[Any]) -> FloatArray:
        for item in items:
            if not hasattr(item, "__len__"):
                raise InputError(f"Hamming compares sequences such as strings, got {type(item).__name__}.")
        lengths = sorted({len(item) for item in items})
        if len(lengths) > 1:
            raise InputError(f"Hamming needs sequences of one length, got lengths {lengths}.")
        if lengths == [0]:
            raise InputError("Hamming needs sequences with at least one coordinate, got empty ones.")
        width = lengths[0] if items else 1
        return _labels(itertools.chain.from_iterable(items)).reshape(len(items), width)

    def _matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        K = np.zeros((len(X), len(Y)))
        for j in range(X.shape[1]):
            K += np.equal.outer(X[:, j], Y[:, j])
        K /= X.shape[1]
        return K


def _is_array(points: Points) -> bool:
    return isinstance(points, np.ndarray) or (len(points) > 0 and isinstance(points[0], np.ndarray))


def _labels(items: Iterable[Any]) -> FloatArray:
    """Whole numbers, shape (n,), the same for two items exactly if the items are equal."""
    items = list(items)
    table: dict[Any, int] = {}
    try:
        return np.array([table.setdefault(item, len(table)) for item in items], dtype=np.float64)
    except TypeError:  # not hashable, e.g. lists: slower, but == is all that is promised
        distinct: list[Any] = []
        return np.array([_position(item, distinct) for item in items], dtype=np.float64)


def _position(item: Any, distinct: list[Any]) -> int:
    """The index of ``item`` in ``distinct``, to which it is appended if it is new."""
    for i, other in enumerate(distinct):
        try:
            if item == other:
                return i
        except ValueError:  # an array inside: == has no single answer
            kind = type(item).__name__
            raise InputError(
                f"Items of type {kind} that hold arrays cannot be compared by ==: hold tuples instead."
            ) from None
    distinct.append(item)
    return len(distinct) - 1
