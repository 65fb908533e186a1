"""Trees of plain values and arrays as bytes: JSON for the tree, raw memory for the arrays, never pickle."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.objects import is_graph

_LENGTH = struct.Struct("<I")
_PLAIN = frozenset([type(None), bool, int, float, str])  # JSON says them as they are


def pack(tree: Any) -> bytes:
    """Bytes of a tree of None, bool, int, float, str, lists, tuples, dicts, NumPy scalars and arrays."""
    blobs: list[bytes] = []
    head = json.dumps(_encode(tree, blobs), separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *blobs])


def unpack(content: bytes) -> Any:
    """The tree again; every value has the type and the bits that it had."""
    try:
        (length,) = _LENGTH.unpack_from(content)
        start = _LENGTH.size + length
        value, rest = _take(json.loads(content[_LENGTH.size : start]), memoryview(content)[start:])
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, struct.error, RecursionError, OverflowError) as error:
        raise InputError(f"a record cannot be read: {type(error).__name__}") from None
    if rest:
        raise InputError(f"a record has {len(rest)} bytes too many")
    return value


# A tree in JSON: plain values stand for themselves, everything else is [kind, …].


def _encode(value: Any, blobs: list[bytes]) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray | np.generic):
        return ["array" if isinstance(value, np.ndarray) else "scalar", *_array(np.asarray(value), blobs)]
    if isinstance(value, list):
        if _PLAIN.issuperset(map(type, value)):
            return ["list", *value]
        if len(value) > 1 and _alike(value):  # observations of an episode: one block rather than many small ones
            return ["arrays", *_array(np.array(value), blobs)]
        return ["list", *(_encode(item, blobs) for item in value)]
    if isinstance(value, tuple):
        return ["graph" if is_graph(value) else "tuple", *(_encode(item, blobs) for item in value)]
    if isinstance(value, dict):
        return ["dict", *([_encode(key, blobs), _encode(item, blobs)] for key, item in value.items())]
    raise InputError(f"a {type(value).__name__} cannot be written to a journal: only numbers, text and arrays can")


def _array(array: np.ndarray[Any, Any], blobs: list[bytes]) -> tuple[str, list[int]]:
    if array.dtype.hasobject or array.dtype.fields:
        raise InputError(f"an array of {array.dtype} cannot be written to a journal: only numbers and text can")
    blobs.append(array.tobytes())
    return array.dtype.str, list(array.shape)


def _alike(items: list[Any]) -> bool:
    """Whether all items are arrays, or NumPy scalars, of one type and shape."""
    first = items[0]
    if not isinstance(first, np.ndarray | np.generic) or (isinstance(first, np.ndarray) and first.ndim == 0):
        return False
    return len({(type(x), x.dtype, x.shape) if isinstance(x, np.ndarray | np.generic) else None for x in items}) == 1


def _take(node: Any, blobs: memoryview) -> tuple[Any, memoryview]:
    """A value and the blobs that are left; arrays come in the order in which they were written."""
    if not isinstance(node, list):
        return node, blobs
    kind, *items = node
    if kind in ("array", "arrays", "scalar"):
        dtype, shape = np.dtype(items[0]), items[1]
        # Nothing of Python's is made, and nothing larger than what is there.
        if dtype.hasobject or any(type(side) is not int or side < 0 for side in shape):
            raise InputError(f"a record has an array of type {dtype} and shape {shape}")
        size = dtype.itemsize * math.prod(shape)
        if size > len(blobs):
            raise InputError("a record has an array that is larger than the record")
        array = np.frombuffer(blobs[:size], dtype=dtype).reshape(shape).copy()
        value = array if kind == "array" else list(array) if kind == "arrays" else array[()]
        return value, blobs[size:]
    found = []
    for item in items:
        if kind == "dict":
            key, blobs = _take(item[0], blobs)
            value, blobs = _take(item[1], blobs)
            found.append((key, value))
        else:
            value, blobs = _take(item, blobs)
            found.append(value)
    if kind == "graph":
        return _graph(found), blobs
    return {"list": list, "tuple": tuple, "dict": dict}[kind](found), blobs


def _graph(fields: list[Any]) -> Any:
    from gymnasium.spaces import GraphInstance  # slow to import

    return GraphInstance(*fields)
