"""Schemas of saved files: types, ranges, sizes and shapes, checked before anything is built.

A schema is a function that takes a value and the place where it stands, and raises an InputError that names both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError

Schema = Callable[[Any, str], None]


def refuse(place: str, wanted: str, value: Any) -> InputError:
    """One sentence on what stands where something else should."""
    text = (
        repr(value) if isinstance(value, str | int | float | bool) or value is None else f"a {type(value).__name__}"
    )
    return InputError(f"{place} must be {wanted}, not {text if len(text) <= 60 else text[:57] + '…'}")


def whole(least: int, most: int) -> Schema:
    """A whole number in a range."""

    def check(value: Any, place: str) -> None:
        if type(value) is not int or not least <= value <= most:
            raise refuse(place, f"a whole number from {least} to {most}", value)

    return check


def number(least: float = -1e15, most: float = 1e15) -> Schema:
    """A finite number in a range."""

    def check(value: Any, place: str) -> None:
        if type(value) not in (int, float) or not least <= value <= most:
            raise refuse(place, f"a number from {least:g} to {most:g}", value)

    return check


def bound(value: Any, place: str) -> None:
    """A number, or null where there is no bound."""
    if value is not None:
        number(-1e308, 1e308)(value, place)


def flag(value: Any, place: str) -> None:
    """True or False."""
    if type(value) is not bool:
        raise refuse(place, "true or false", value)


def text(pattern: str = r"(?s).{0,1000}") -> Schema:
    """Text of a given form."""

    def check(value: Any, place: str) -> None:
        if type(value) is not str or not re.fullmatch(pattern, value):
            raise refuse(place, "text" if pattern.startswith("(?s)") else f"text of the form {pattern}", value)

    return check


def one_of(*words: Any) -> Schema:
    """One of some values."""

    def check(value: Any, place: str) -> None:
        if not any(type(value) is type(word) and value == word for word in words):
            raise refuse(place, f"one of {', '.join(map(str, words))}", value)

    return check


def either(*schemas: Schema) -> Schema:
    """A value of any of some schemas; the last one reports the error."""

    def check(value: Any, place: str) -> None:
        for schema in schemas[:-1]:
            try:
                return schema(value, place)
            except InputError:
                continue
        return schemas[-1](value, place)

    return check


def items(of: Schema, least: int = 0, most: int = 1000) -> Schema:
    """A list of so many values."""

    def check(value: Any, place: str) -> None:
        if type(value) is not list or not least <= len(value) <= most:
            raise refuse(place, f"a list of {least} to {most} entries", value)
        for i, entry in enumerate(value):
            of(entry, f"{place}[{i}]")

    return check


def table(**keys: Schema) -> Schema:
    """An object with exactly these keys."""

    def check(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise refuse(place, "an object", value)
        check_names(value, keys, place)
        for key, schema in keys.items():
            schema(value[key], f"{place}.{key}" if place else key)

    return check


def check_names(
    found: Mapping[str, Any], wanted: Mapping[str, Any], place: str, optional: Sequence[str] = ()
) -> None:
    """Refuse missing and unknown keys."""
    where = f"{place} " if place else ""
    missing = [name for name in wanted if name not in found and name not in optional]
    if missing:
        raise InputError(f"{where}lacks {missing[0]!r}")
    unknown = [name for name in found if name not in wanted and name not in optional]
    if unknown:
        raise InputError(f"{where}has {str(unknown[0])[:60]!r}, which this version of cmerl does not know")


def plain(depth: int = 12, most: int = 100_000, largest: float = math.inf) -> Schema:
    """Any JSON, nested so deep at most, of so many values, and with numbers of at most that size."""

    def check(value: Any, place: str) -> None:
        waiting, seen = [(value, 0)], 0
        while waiting:
            node, level = waiting.pop()
            seen += 1
            if level > depth or seen > most:
                raise InputError(f"{place} is nested deeper than {depth} levels, or holds more than {most} values")
            if isinstance(node, dict | list):
                waiting += [(entry, level + 1) for entry in (node.values() if isinstance(node, dict) else node)]
            elif type(node) in (int, float) and not abs(node) <= min(largest, 2.0**1000):
                raise InputError(f"{place} holds a number that is too large")

    return check


@dataclass(frozen=True)
class ArraySchema:
    """The schema of an array.

    Attributes:
        kinds: of its type, as NumPy has them: "f", "i", "b", "u".
        shape: sizes; a name stands for a size that is the same wherever the name is, None for any.
        least: of its entries; likewise ``most``.
        special: whether NaN and infinity are allowed.
    """

    kinds: str
    shape: tuple[int | str | None, ...]
    least: float = -1e15
    most: float = 1e15
    special: bool = False

    def check(self, array: NDArray[Any], name: str, sizes: dict[str, int]) -> None:
        """Refuse another array; sizes that have a name are kept."""
        if array.dtype.kind not in self.kinds or array.dtype.itemsize not in (1, 8):
            raise InputError(f"array {name!r} must be of type {self.kinds}, not {array.dtype}")
        wanted = [sizes.get(size, size) if isinstance(size, str) else size for size in self.shape]
        fits = array.ndim == len(wanted) and all(
            not isinstance(size, int) or size == have for size, have in zip(wanted, array.shape, strict=True)
        )
        if not fits:
            shape = ", ".join("any" if size is None else str(size) for size in wanted)
            raise InputError(f"array {name!r} must have the shape ({shape}), not {array.shape}")
        for size, have in zip(wanted, array.shape, strict=True):
            if isinstance(size, str):
                sizes[size] = have
        if array.size and array.dtype.kind != "b":
            self._check_range(array, name)

    def _check_range(self, array: NDArray[Any], name: str) -> None:
        if not self.special and not np.all(np.isfinite(array)):
            raise InputError(f"array {name!r} holds NaN or infinity")
        finite = array[np.isfinite(array)]
        if finite.size and (finite.min() < self.least or finite.max() > self.most):
            raise InputError(f"array {name!r} has entries outside of {self.least:g} to {self.most:g}")


def floats(*shape: int | str | None, least: float = -1e15, most: float = 1e15, special: bool = False) -> ArraySchema:
    """Numbers of double precision."""
    return ArraySchema("f", shape, least, most, special)


def wholes(*shape: int | str | None, least: float = 0, most: float = 2**53) -> ArraySchema:
    """Whole numbers."""
    return ArraySchema("i", shape, least, most)


def flags(*shape: int | str | None) -> ArraySchema:
    """Truth values."""
    return ArraySchema("b", shape)


def check_arrays(
    arrays: Mapping[str, NDArray[Any]],
    schemas: Mapping[str, ArraySchema],
    sizes: dict[str, int],
    optional: Sequence[str] = (),
) -> None:
    """Refuse arrays that are missing, unknown, or not what their schemas say."""
    check_names(arrays, schemas, "the file", optional)
    for name, schema in schemas.items():
        if name in arrays:
            schema.check(arrays[name], name, sizes)
