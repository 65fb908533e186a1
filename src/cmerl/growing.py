"""Growing arrays, how they are saved, and when data that grow call for new choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
"""Named arrays for saving; dots separate nested names."""
T = TypeVar("T", np.float64, np.intp)


def doubled(n: int, before: int) -> bool:
    """True if the data have doubled since the last choice: the clock of kernels, dictionaries, models and actors.

    The number of choices grows with the logarithm of the data, and each sees as much new as old.

    Args:
        n: transitions now.
        before: transitions at the last choice; 0 if there was none.
    """
    return n >= 2 * before


def nested(parts: Mapping[str, Arrays]) -> Arrays:
    """The arrays of parts under the names of the parts."""
    return {f"{name}.{key}": array for name, arrays in parts.items() for key, array in arrays.items()}


def part(arrays: Arrays, name: str) -> Arrays:
    """The arrays of one part."""
    return {key[len(name) + 1 :]: array for key, array in arrays.items() if key.startswith(name + ".")}


class GrowingMatrix:
    """A matrix that grows at its lower and right edges with amortised copying.

    ``view`` is the current content; it shares memory with the buffer until the next growth.
    """

    def __init__(self, rows: int = 0, cols: int = 0) -> None:
        self.shape = (rows, cols)
        self._buffer = np.zeros((max(rows, 16), max(cols, 16)))

    @property
    def view(self) -> FloatArray:
        """The content (rows, cols)."""
        return self._buffer[: self.shape[0], : self.shape[1]]

    def resize(self, rows: int, cols: int) -> FloatArray:
        """Grow to (rows, cols); what was there stays, what is new is zero until written. Returns the view."""
        have = self._buffer.shape
        if rows > have[0] or cols > have[1]:
            # A quarter to spare, in both directions at once: copying stays rare, and rows stay close in memory, which
            # matters because products with the view are bound by memory.
            larger = np.zeros((max(have[0], rows + rows // 4), max(have[1], cols + cols // 4)))
            larger[: self.shape[0], : self.shape[1]] = self.view
            self._buffer = larger
        self.shape = (rows, cols)
        return self.view

    def undo(self) -> Callable[[], None]:
        """Turns back what is appended from now on: room beyond the edges must be zero."""
        buffer, (rows, cols) = self._buffer, self.shape

        def undo() -> None:
            buffer[rows:] = 0.0
            buffer[:, cols:] = 0.0

        return undo

    def arrays(self) -> Arrays:
        """Content and capacity."""
        return {"content": self.view, "capacity": np.array(self._buffer.shape)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> GrowingMatrix:
        """The same matrix with room for as much: how it lies in memory can decide the last bit of a sum."""
        matrix = cls()
        matrix._buffer = np.zeros(tuple(arrays["capacity"]))
        matrix.resize(*arrays["content"].shape)[...] = arrays["content"]
        return matrix


class GrowingVector(Generic[T]):
    """A one-dimensional array that grows at its end with amortised copying."""

    def __init__(self, dtype: type[T]) -> None:
        self._buffer: NDArray[T] = np.zeros(16, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[T]:
        """The content (n,)."""
        return self._buffer[: self._size]

    def extend(self, values: NDArray[T]) -> None:
        """Append ``values`` (k,)."""
        size = self._size + len(values)
        if size > len(self._buffer):
            larger = np.zeros(max(size, 2 * len(self._buffer)), dtype=self._buffer.dtype)
            larger[: self._size] = self.view
            self._buffer = larger
        self._buffer[self._size : size] = values
        self._size = size
