"""What the file of an exported policy may hold, checked before anything is made from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cmerl.errors import InputError
from cmerl.exported.container import Arrays
from cmerl.exported.kernels import KINDS

MOST = 10**7


def check(meta: dict[str, Any], arrays: Arrays) -> None:
    """Raise one sentence unless a file holds a policy."""
    _need(meta.get("kind") in ("table", "kernel", "landmarks"), "its kind is unknown")
    _need(_whole(meta.get("horizon"), 1, MOST), "it has no horizon")
    _need(isinstance(meta.get("about"), dict), "it does not say what it is")
    A = _check_actions(meta.get("actions"), arrays)
    if meta["kind"] == "table":
        _need(_whole(meta.get("first"), -MOST, MOST), "it has no first state")
        _shape(arrays, "table", (meta["horizon"], None), "i")
        _need(arrays["table"].shape[1] > 0 and _indices(arrays["table"], A), "its table names no actions")
    elif meta["kind"] == "landmarks":
        _check_landmarks(meta, arrays, A)
    else:
        _check_kernel(meta, arrays, A)


def _check_actions(about: Any, arrays: Arrays) -> int:
    _need(isinstance(about, dict) and set(about) == {"shape", "dtype"}, "it does not say what actions are")
    shape, dtype = about["shape"], about["dtype"]
    _need(isinstance(shape, list) and all(_whole(side, 0, MOST) for side in shape), "actions have no shape")
    _need(dtype in ("<i8", "<i4", "<f4", "<f8", "|i1", "|u1", "<i2", "<u2"), "actions have no type")
    values = _shape(arrays, "values", (None, int(math.prod(shape))), "f")
    _need(len(values) > 0, "it has no actions")
    for key in ("action_low", "action_high"):
        if key in arrays:
            _shape(arrays, key, (values.shape[1],), "f")
    _need(("action_low" in arrays) == ("action_high" in arrays), "a bound of actions is missing")
    return len(values)


def _check_kernel(meta: dict[str, Any], arrays: Arrays, A: int) -> None:
    H = meta["horizon"]
    n = _check_observations(meta.get("observations"), arrays)
    d = n + int((arrays["period"] > 0).sum())
    rows = _shape(arrays, "rows", (A, None), "f")
    states = _shape(arrays, "states", (None, d), "f")
    m = len(states)
    _need(m > 0, "it has no points")
    _shape(arrays, "at_actions", (m, rows.shape[1]), "f")
    _shape(arrays, "weights", (H, m), "f")
    _shape(arrays, "constants", (H,), "f")
    order = _shape(arrays, "order", (H, A), "i")
    _need(bool((np.sort(order, axis=1) == np.arange(A)).all()), "its orders of actions are none")
    _need(_number(meta.get("tie")), "it does not say what a tie is")
    terms: Any = meta.get("terms")
    _need(isinstance(terms, list) and 0 < len(terms) <= 1000, "it has no kernel")
    for term in terms:
        good = isinstance(term, dict) and set(term) == {"scale", "state", "action"} and _number(term["scale"])
        _need(good, "a term of its kernel is malformed")
        for key, columns in (("state", d), ("action", rows.shape[1])):
            _need(isinstance(term[key], list) and len(term[key]) <= 100, "a term of its kernel is malformed")
            for factor in term[key]:
                _check_factor(factor, columns)
    ascent = meta.get("ascent", 0)
    if ascent is not None:
        good = isinstance(ascent, dict) and set(ascent) == {"rounds", "lengths"} and _whole(ascent["rounds"], 0, 1000)
        _need(good and isinstance(ascent["lengths"], list), "its ascent is malformed")
        _need(0 < len(ascent["lengths"]) <= 1000 and all(map(_number, ascent["lengths"])), "its ascent is malformed")
        _need("action_low" in arrays, "its actions have no bounds to climb within")


def _check_landmarks(meta: dict[str, Any], arrays: Arrays, A: int) -> None:
    n = _check_observations(meta.get("observations"), arrays)
    d = n + int((arrays["period"] > 0).sum())
    m = len(_shape(arrays, "states", (None, d), "f"))
    _need(m > 0, "it has no landmarks")
    _need(bool((_shape(arrays, "lengthscales", (d,), "f") > 0).all()), "its kernel has no width")
    times = len(_shape(arrays, "weights", (None, m, A), "f"))
    _need(0 < times <= meta["horizon"], "its weights are for no step")


def _check_observations(parts: Any, arrays: Arrays) -> int:
    _need(isinstance(parts, list) and 0 < len(parts) <= 10_000, "it does not say what observations are")
    n = 0
    for part in parts:
        good = isinstance(part, dict) and set(part) == {"path", "shape"}
        good = good and isinstance(part["path"], list) and all(isinstance(key, str | int) for key in part["path"])
        good = good and isinstance(part["shape"], list) and all(_whole(side, 0, MOST) for side in part["shape"])
        _need(good, "a part of its observations is malformed")
        n += int(math.prod(part["shape"]))
    for key in ("low", "scale", "period"):
        _shape(arrays, key, (n,), "f")
    _need(bool((arrays["scale"] > 0).all() and (arrays["period"] >= 0).all()), "its observations have no scale")
    return n


def _check_factor(factor: Any, columns: int) -> None:
    good = isinstance(factor, dict) and set(factor) == {"kind", "columns", "lengthscale", "nu"}
    good = good and factor["kind"] in KINDS and factor["nu"] in (0.0, 0.5, 1.5, 2.5)
    good = good and isinstance(factor["columns"], list) and len(factor["columns"]) > 0
    good = good and all(_whole(column, 0, columns - 1) for column in factor["columns"])
    good = good and isinstance(factor["lengthscale"], list)
    good = good and len(factor["lengthscale"]) in (0, len(factor["columns"]))
    good = good and all(_number(scale) and scale > 0 for scale in factor["lengthscale"])
    _need(good and (factor["kind"] != "matern" or factor["nu"] > 0), "a factor of its kernel is malformed")


def _shape(arrays: Arrays, name: str, shape: tuple[int | None, ...], kind: str) -> Any:
    array = arrays.get(name)
    good = array is not None and array.ndim == len(shape) and array.dtype.kind == kind
    good = good and all(want in (None, side) for want, side in zip(shape, array.shape, strict=True))  # type: ignore[union-attr]
    _need(good, f"array {name!r} is missing, or has another shape")
    return array


def _indices(table: Any, count: int) -> bool:
    return bool(((table >= 0) & (table < count)).all())


def _whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _need(held: bool, sentence: str) -> None:
    if not held:
        raise InputError(sentence)
