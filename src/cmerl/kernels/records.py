"""Kernels on records: a kernel for each named part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cmerl.errors import InputError, KernelError
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.pullback import Pullback
from cmerl.kernels.structured import ObjectKernel
from cmerl.linalg import spectrum


@dataclass(frozen=True)
class On(Pullback):
    """k(x, y) = kernel(x[part], y[part]): ``on("stock", RBF(5.0)) * on("weekday", Periodic(7.0, 1.0))``.

    Points are mappings or tuples; a nested part is "pose.velocity". In an agent the part is taken from the
    observation, unscaled.
    """

    part: str
    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.part, str | int) or self.part == "":
            raise KernelError(f"on names a part by its key, or by its position, got {self.part!r}.")
        self._store("part", str(self.part))
        self._store("kernel", as_kernel(self.kernel))

    def _image(self, X: Points) -> Points:
        """The part of every record: rows of an array where it holds numbers, else a list."""
        found = [_find(x, self.part, i) for i, x in enumerate(X)]
        numeric = all(_is_numeric(value) for value in found)
        shapes = {np.shape(value) for value in found} if numeric else set()
        if len(shapes) == 1 and not isinstance(self.kernel, ObjectKernel):
            return np.array(found, dtype=np.float64).reshape(len(found), -1)
        return found


def on(part: str | int, kernel: Any) -> On:
    """A kernel on one part of a record; kernels on parts compose with ``+`` and ``*``."""
    return On(str(part), as_kernel(kernel))


def mixed(**parts: Any) -> Kernel:
    """The mean of kernels on the parts of a record: ``mixed(colour=Delta(), weight=RBF(2.0))``."""
    if not parts:
        raise KernelError("mixed needs a kernel for at least one part.")
    terms = [on(part, kernel) for part, kernel in parts.items()]
    total: Kernel = terms[0]
    for term in terms[1:]:
        total = total + term
    return (1.0 / len(terms)) * total


@dataclass(frozen=True)
class Categorical(ObjectKernel):
    """A kernel on categories from a similarity table: ``Categorical(("red", "pink"), ((1.0, 0.8), (0.8, 1.0)))``.

    Args:
        labels: All categories.
        matrix: Their kernel matrix, symmetric and positive semi-definite.
    """

    labels: tuple[Any, ...]
    matrix: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        self._store("labels", tuple(self.labels))
        table = np.asarray(self.matrix, dtype=np.float64)
        if len(set(self.labels)) < len(self.labels) or table.shape != (len(self.labels),) * 2:
            raise KernelError(f"Categorical needs different labels and a square matrix of them, got {table.shape}.")
        if not np.array_equal(table, table.T) or spectrum(table)[0].min() < -1e-10 * max(abs(table).max(), 1.0):
            raise KernelError("The matrix of categories must be symmetric and positive semi-definite.")
        self._store("matrix", tuple(map(tuple, table.tolist())))

    @property
    def bound(self) -> float:
        """Square root of the largest diagonal entry."""
        return float(np.sqrt(np.diagonal(np.array(self.matrix)).max()))

    @property
    def nonnegative(self) -> bool:
        """True if the table is non-negative."""
        return bool((np.array(self.matrix) >= 0.0).all())

    def _read(self, x: Any) -> int:
        if isinstance(x, np.ndarray) and x.size == 1:
            x = x.item()
        try:
            return self.labels.index(x)
        except ValueError:
            raise InputError(f"{x!r} is not one of the categories {', '.join(map(repr, self.labels))}") from None

    def _matrix(self, A: list[Any], B: list[Any]) -> FloatArray:
        return np.array(self.matrix)[np.ix_(A, B)]

    def _diag(self, A: list[Any]) -> FloatArray:
        return np.array(self.matrix)[A, A]


def _find(record: Any, part: str, position: int) -> Any:
    if isinstance(record, Mapping) and part in record:  # a key may hold a dot itself
        return record[part]
    value = record
    for name in part.split("."):
        try:
            value = value[name] if isinstance(value, Mapping) else value[int(name)]
        except (KeyError, IndexError, TypeError, ValueError):
            raise InputError(f"record {position} has no part {part!r}: {record!r}") from None
    return value


def _is_numeric(value: Any) -> bool:
    return isinstance(value, int | float | np.number | np.ndarray) and np.asarray(value).dtype.kind in "biuf"
