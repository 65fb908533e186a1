"""Damage: random changes of bytes, of JSON, and of arrays."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import numpy as np

STRANGE: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), "",
    "auto", "O", "../../etc", "x" * 5000, "\u0000", [], {}, [[]], [None], {"type": "RBF"},
    {"type": "Sum", "kernels": []}, [1] * 50,
]  # fmt: skip


def damage_bytes(content: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, cut off, put in or doubled."""
    data = bytearray(content)
    kind = rng.choice(["flip", "cut", "insert", "zero", "double", "swap"])
    at = rng.randrange(max(len(data), 1))
    if kind == "flip":
        for _ in range(rng.choice([1, 1, 1, 5, 50])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[at:]
    elif kind == "insert":
        data[at:at] = rng.randbytes(rng.randint(1, 40))
    elif kind == "zero":
        data[at : at + rng.randint(1, 64)] = bytes(rng.randint(1, 64))
    elif kind == "double":
        data[at:at] = data[at : at + rng.randint(1, 200)]
    else:
        other = rng.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    return bytes(data)


def damage_tree(tree: Any, rng: random.Random) -> Any:
    """A JSON value with one place changed."""
    tree = copy.deepcopy(tree)
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        places += [(node, key) for key in keys]
        waiting += [node[key] for key in keys if isinstance(node[key], dict | list)]
    if not places:
        return rng.choice(STRANGE)
    node, key = rng.choice(places)
    kind = rng.choice(["replace", "replace", "delete", "add", "nest", "scale", "double"])
    if kind == "replace":
        node[key] = copy.deepcopy(rng.choice(STRANGE))
    elif kind == "delete":
        del node[key]
    elif kind == "add":
        node.update(strange=rng.choice(STRANGE)) if isinstance(node, dict) else node.append(rng.choice(STRANGE))
    elif kind == "nest":
        deep: Any = node[key]
        for _ in range(rng.choice([1, 3, 50, 400])):
            deep = [deep] if rng.random() < 0.5 else {"kernel": deep, "type": "Scaled", "c": 1.0}
        node[key] = deep
    elif kind == "scale" and isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] = node[key] * rng.choice([-1, 0, 1e3, 1e9, 1e200]) + rng.choice([0, 1, -1])
    elif isinstance(node[key], list):
        node[key] = node[key] * 2
    return tree


def damage_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array with entries, shape or type changed."""
    a = np.array(array)
    kind = rng.choice(["entry", "entry", "entry", "shape", "type", "cut", "grow", "fill"])
    if kind == "entry" and a.size and a.dtype.kind == "f":
        a.flat[rng.randrange(a.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e200, 1e20, -1.0, 0.0, 1e-300])
    elif kind == "entry" and a.size and a.dtype.kind in "iu":
        info = np.iinfo(a.dtype)
        a.flat[rng.randrange(a.size)] = rng.choice([info.min, info.max, 0, 1, 2**31 % (info.max + 1), 100])
    elif kind == "shape":
        a = a.reshape(-1) if a.ndim > 1 else a[:, None] if rng.random() < 0.5 else a[None]
    elif kind == "type":
        a = a.astype(rng.choice([np.float32, np.int64, np.uint8, np.bool_, np.float64, np.int8]), casting="unsafe")
    elif kind == "cut" and a.ndim:
        a = a[: rng.randrange(len(a) + 1)]
    elif kind == "grow" and a.ndim:
        a = np.concatenate([a, a[:1], a])
    elif a.size:
        a[...] = rng.choice([0, 1])
    return np.ascontiguousarray(a)


def strange_json(rng: random.Random) -> str:
    """JSON that no reader expects."""
    depth = rng.choice([10, 2000, 100_000])
    return rng.choice(
        ["", "[]", "null", "1", "{", "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "9" * 5000,
         json.dumps({"format": 1}), '{"format": 1, "spec": []}',
         '{"format": 1, "spec": {"seeds": ' + "9" * 5000 + "}}"]
    )  # fmt: skip
