"""Kernels on objects that are passed around as numbers: each value between two objects is computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import KernelError
from cmerl.growing import GrowingMatrix
from cmerl.kernels.base import FloatArray, Kernel, Points
from cmerl.kernels.foreign import as_kernel
from cmerl.kernels.pullback import Pullback
from cmerl.kernels.spec import from_spec
from cmerl.objects import ObjectTable

LIMIT = 4000  # objects whose kernel matrix is kept: 128 MB


class Gram:
    """The kernel matrix of the objects of a table, extended by a block when there are new ones.

    Rounding may depend on the sizes of blocks, so that these are kept, to make the same matrix again.
    """

    def __init__(self, kernel: Kernel, table: ObjectTable, sizes: Sequence[int] = ()) -> None:
        self._kernel, self._table = kernel, table
        self._matrix = GrowingMatrix()
        self.sizes: list[int] = []
        for size in sizes:
            self.extend(size)

    def extend(self, size: int) -> None:
        """Let the matrix have so many objects."""
        have = self._matrix.shape[0]
        if size <= have:
            return
        old, new = self._table.objects[:have], self._table.objects[have:size]
        across = self._kernel(new, old) if have else np.zeros((len(new), 0))
        own = self._kernel(new)
        K = self._matrix.resize(size, size)
        K[have:, :have], K[:have, have:], K[have:, have:] = across, across.T, own
        self.sizes.append(size)

    def values(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> FloatArray:
        """K between the objects with these numbers (n, m)."""
        self.extend(min(len(self._table), LIMIT))
        K = self._matrix.view
        inside = (rows < LIMIT).all() and (columns < LIMIT).all()
        if inside:
            return np.asarray(K[rows[:, None], columns])
        return self._kernel([self._table[i] for i in rows], [self._table[j] for j in columns])


@dataclass(frozen=True)
class Interned(Pullback):
    """A kernel on objects, for rows (n, 1) of their numbers in a table.

    Args:
        kernel: Kernel on the objects.
        part: Part of the observation that the table belongs to; empty for all of it.
        table: The objects; after loading None until ``bind`` sets it.
    """

    kernel: Kernel
    part: str = ""
    table: ObjectTable | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._store("kernel", as_kernel(self.kernel))

    @property
    def gram(self) -> Gram:
        """The cached matrix; equal kernels share it."""
        if self.table is None:
            raise KernelError(f"this kernel has lost its objects of part {self.part!r}: bind it to a table.")
        if self.kernel not in self.table.caches:
            self.table.caches[self.kernel] = Gram(self.kernel, self.table)
        found: Gram = self.table.caches[self.kernel]
        return found

    def __call__(self, X: Points, Y: Points | None = None) -> FloatArray:
        """The matrix [k(x_i, y_j)], shape (n, m)."""
        rows = numbers(X)
        return self.gram.values(rows, rows if Y is None or Y is X else numbers(Y))

    def diag(self, X: Points) -> FloatArray:
        """The diagonal [k(x_i, x_i)], shape (n,)."""
        distinct, back = np.unique(numbers(X), return_inverse=True)
        return super().diag(distinct[:, None].astype(np.float64))[back]

    def _image(self, X: Points) -> list[Any]:
        table = self.gram._table
        return [table[i] for i in numbers(X)]

    def spec(self) -> dict[str, Any]:
        """The description without the objects, which are saved with the observations."""
        return {"type": "Interned", "kernel": self.kernel.spec(), "part": self.part}


def numbers(X: Points) -> NDArray[np.intp]:
    """The numbers of objects (n,) in rows (n, 1)."""
    return np.asarray(X, dtype=np.float64).reshape(len(X), -1)[:, 0].astype(np.intp)


def walk(kernel: Kernel, change: Callable[[Kernel], Kernel | None]) -> Kernel:
    """The kernel with parts replaced: ``change`` gives a replacement, or None to look inside a part."""
    found = change(kernel)
    if found is not None:
        return found
    news: dict[str, Any] = {}
    for f in fields(kernel):
        value = getattr(kernel, f.name)
        if not f.init:
            continue
        if isinstance(value, Kernel):
            news[f.name] = walk(value, change)
        elif isinstance(value, tuple) and value and all(isinstance(v, Kernel) for v in value):
            news[f.name] = tuple(walk(v, change) for v in value)
    return replace(kernel, **news) if news else kernel


def bind(kernel: Kernel, tables: dict[str, ObjectTable]) -> Kernel:
    """The kernel with every `Interned` part at the table of its name."""
    return walk(kernel, lambda k: replace(k, table=tables[k.part]) if isinstance(k, Interned) else None)


def table_spec(table: ObjectTable) -> dict[str, Any]:
    """Objects as JSON, with the blocks in which kernel matrices of them were computed."""
    grown = [[kernel.spec(), gram.sizes] for kernel, gram in table.caches.items()]
    return {"objects": table.to_json(), "grown": grown}


def table_from_spec(spec: dict[str, Any]) -> ObjectTable:
    """The inverse of ``table_spec``: the same objects, and the same matrices bit for bit."""
    table = ObjectTable.from_json(spec["objects"])
    for about, sizes in spec["grown"]:
        kernel = from_spec(about)
        table.caches[kernel] = Gram(kernel, table, sizes)
    return table
