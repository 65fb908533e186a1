"""Objects as states: immutable copies, keys by content, and a JSON form.

What can be held: text, numbers, arrays, Gymnasium's graphs, and tuples, lists, sets and mappings of those.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cmerl.errors import InputError

PLAIN = (str, bool, int, float, type(None))


def is_graph(value: Any) -> bool:
    """Whether this is Gymnasium's ``GraphInstance``, which need not be imported for that."""
    return isinstance(value, tuple) and hasattr(value, "edge_links")


def freeze(value: Any) -> Any:
    """A copy that the environment cannot change; raises `InputError` for unknown types.

    Lists become tuples, sets frozensets, mappings dictionaries with sorted keys, arrays are read-only.
    """
    if is_graph(value):
        return type(value)(*(None if x is None else freeze(np.asarray(x)) for x in value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            return freeze(value.tolist())
        copy = np.array(value)
        copy.setflags(write=False)
        return copy
    if isinstance(value, Mapping):
        return {key: freeze(value[key]) for key in sorted(value, key=lambda k: (type(k).__name__, k))}
    if isinstance(value, set | frozenset):
        return frozenset(freeze(x) for x in value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return tuple(freeze(x) for x in value)
    raise InputError(
        f"a {type(value).__name__} cannot be a state: give text, numbers, arrays, graphs, or tuples, sets and "
        "mappings of those"
    )


def key(value: Any) -> Hashable:
    """A dictionary key of a frozen object: equal keys exactly for equal content."""
    if is_graph(value):
        return ("graph", *(None if x is None else key(x) for x in value))
    if isinstance(value, np.ndarray):
        return value.shape, (np.asarray(value, dtype=np.float64) + 0.0).tobytes()  # -0.0 and 0.0 are the same
    if isinstance(value, Mapping):
        return ("map", *((k, key(x)) for k, x in value.items()))
    if isinstance(value, frozenset):
        return "set", frozenset(key(x) for x in value)
    if isinstance(value, tuple):
        return ("seq", *(key(x) for x in value))
    return value if isinstance(value, Hashable) else repr(value)


def to_json(value: Any) -> Any:
    """A frozen object as plain JSON: what JSON lacks is a mapping with one tag."""
    if isinstance(value, PLAIN):
        return value
    if is_graph(value):
        return {"graph": [to_json(x) for x in value]}
    if isinstance(value, np.ndarray):
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": [value.dtype.str, list(value.shape), text]}
    if isinstance(value, Mapping):
        return {"map": [[to_json(k), to_json(x)] for k, x in value.items()]}
    if isinstance(value, frozenset):
        return {"set": [to_json(x) for x in sorted(value, key=repr)]}
    if isinstance(value, tuple):
        return [to_json(x) for x in value]
    raise InputError(f"a {type(value).__name__} cannot be saved")


def from_json(value: Any) -> Any:
    """The inverse of ``to_json``; nothing that a file says is executed."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list):
        return tuple(from_json(x) for x in value)
    if isinstance(value, Mapping) and len(value) == 1:
        (tag, content), *_ = value.items()
        read = _READERS.get(tag)
        if read is not None:
            return read(content)
    raise InputError(f"{value!r} is not a saved object")


def _array(content: Sequence[Any]) -> Any:
    dtype, shape, text = content
    if np.dtype(dtype).kind not in "biuf":
        raise InputError(f"a saved array has type {dtype!r}, which is no number")
    array = np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape)
    return freeze(array)


def _graph(content: Sequence[Any]) -> Any:
    from gymnasium.spaces import GraphInstance  # slow to import

    return GraphInstance(*(from_json(x) for x in content))


_READERS: dict[str, Callable[[Any], Any]] = {
    "array": _array,
    "graph": _graph,
    "map": lambda content: {from_json(k): from_json(x) for k, x in content},
    "set": lambda content: frozenset(from_json(x) for x in content),
}


class ObjectTable:
    """Distinct objects in the order of their first arrival; equal content shares one number.

    A state that is an object is passed around as its number here. The object itself stays what it is.
    """

    def __init__(self, objects: Iterable[Any] = ()) -> None:
        self.objects: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self.caches: dict[Any, Any] = {}  # what others keep about these objects, by whatever they choose
        for value in objects:
            self.add(value)

    def __len__(self) -> int:
        return len(self.objects)

    def __getitem__(self, number: int) -> Any:
        return self.objects[number]

    def add(self, value: Any) -> int:
        """The number of an object, new if it was never seen; copied and frozen."""
        frozen = freeze(value)
        number = self._numbers.setdefault(key(frozen), len(self.objects))
        if number == len(self.objects):
            self.objects.append(frozen)
        return number

    def to_json(self) -> list[Any]:
        """All objects, in order."""
        return [to_json(value) for value in self.objects]

    @classmethod
    def from_json(cls, objects: Sequence[Any]) -> ObjectTable:
        """The inverse of ``to_json``."""
        return cls(from_json(value) for value in objects)
