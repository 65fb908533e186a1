"""The schema of an exported policy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cmerl.exported.checks import need, number, shape, whole
from cmerl.exported.container import Arrays
from cmerl.exported.kernels import KINDS
from cmerl.exported.search_schema import check_search

MOST = 10**7


def check(meta: dict[str, Any], arrays: Arrays) -> None:
    """Raise one sentence unless a file holds a policy."""
    need(meta.get("kind") in ("table", "kernel", "landmarks", "search"), "its kind is unknown")
    need(whole(meta.get("horizon"), 1, MOST), "it has no horizon")
    need(isinstance(meta.get("about"), dict), "it does not say what it is")
    A = _check_actions(meta.get("actions"), arrays)
    if meta["kind"] == "table":
        need(whole(meta.get("first"), -MOST, MOST), "it has no first state")
        shape(arrays, "table", (meta["horizon"], None), "i")
        need(arrays["table"].shape[1] > 0 and _indices(arrays["table"], A), "its table names no actions")
    elif meta["kind"] == "landmarks":
        _check_landmarks(meta, arrays, A)
    elif meta["kind"] == "search":
        check_search(meta, arrays, A, _check_columns(meta, arrays))
    else:
        _check_kernel(meta, arrays, A)


def _check_actions(about: Any, arrays: Arrays) -> int:
    need(isinstance(about, dict) and set(about) == {"shape", "dtype"}, "it does not say what actions are")
    sides, dtype = about["shape"], about["dtype"]
    need(isinstance(sides, list) and all(whole(side, 0, MOST) for side in sides), "actions have no shape")
    need(dtype in ("<i8", "<i4", "<f4", "<f8", "|i1", "|u1", "<i2", "<u2"), "actions have no type")
    values = shape(arrays, "values", (None, int(math.prod(sides))), "f")
    need(len(values) > 0, "it has no actions")
    for key in ("action_low", "action_high"):
        if key in arrays:
            shape(arrays, key, (values.shape[1],), "f")
    need(("action_low" in arrays) == ("action_high" in arrays), "a bound of actions is missing")
    return len(values)


def _check_kernel(meta: dict[str, Any], arrays: Arrays, A: int) -> None:
    H = meta["horizon"]
    d = _check_columns(meta, arrays)
    rows = shape(arrays, "rows", (A, None), "f")
    states = shape(arrays, "states", (None, d), "f")
    m = len(states)
    need(m > 0, "it has no points")
    shape(arrays, "at_actions", (m, rows.shape[1]), "f")
    shape(arrays, "weights", (H, m), "f")
    shape(arrays, "constants", (H,), "f")
    order = shape(arrays, "order", (H, A), "i")
    need(bool((np.sort(order, axis=1) == np.arange(A)).all()), "its orders of actions are none")
    need(number(meta.get("tie")), "it does not say what a tie is")
    terms: Any = meta.get("terms")
    need(isinstance(terms, list) and 0 < len(terms) <= 1000, "it has no kernel")
    for term in terms:
        good = isinstance(term, dict) and set(term) == {"scale", "state", "action"} and number(term["scale"])
        need(good, "a term of its kernel is malformed")
        for key, columns in (("state", d), ("action", rows.shape[1])):
            need(isinstance(term[key], list) and len(term[key]) <= 100, "a term of its kernel is malformed")
            for factor in term[key]:
                _check_factor(factor, columns)
    ascent = meta.get("ascent", 0)
    if ascent is not None:
        good = isinstance(ascent, dict) and set(ascent) == {"rounds", "lengths"} and whole(ascent["rounds"], 0, 1000)
        need(good and isinstance(ascent["lengths"], list), "its ascent is malformed")
        need(0 < len(ascent["lengths"]) <= 1000 and all(map(number, ascent["lengths"])), "its ascent is malformed")
        need("action_low" in arrays, "its actions have no bounds to climb within")


def _check_landmarks(meta: dict[str, Any], arrays: Arrays, A: int) -> None:
    d = _check_columns(meta, arrays)
    m = len(shape(arrays, "states", (None, d), "f"))
    need(m > 0, "it has no landmarks")
    need(bool((shape(arrays, "lengthscales", (d,), "f") > 0).all()), "its kernel has no width")
    times = len(shape(arrays, "weights", (None, m, A), "f"))
    need(0 < times <= meta["horizon"], "its weights are for no step")


def _check_columns(meta: dict[str, Any], arrays: Arrays) -> int:
    """The columns of an encoded observation; an angle has two."""
    return _check_observations(meta.get("observations"), arrays) + int((arrays["period"] > 0).sum())


def _check_observations(parts: Any, arrays: Arrays) -> int:
    need(isinstance(parts, list) and 0 < len(parts) <= 10_000, "it does not say what observations are")
    n = 0
    for part in parts:
        good = isinstance(part, dict) and set(part) == {"path", "shape"}
        good = good and isinstance(part["path"], list) and all(isinstance(key, str | int) for key in part["path"])
        good = good and isinstance(part["shape"], list) and all(whole(side, 0, MOST) for side in part["shape"])
        need(good, "a part of its observations is malformed")
        n += int(math.prod(part["shape"]))
    for key in ("low", "scale", "period"):
        shape(arrays, key, (n,), "f")
    need(bool((arrays["scale"] > 0).all() and (arrays["period"] >= 0).all()), "its observations have no scale")
    return n


def _check_factor(factor: Any, columns: int) -> None:
    good = isinstance(factor, dict) and set(factor) == {"kind", "columns", "lengthscale", "nu"}
    good = good and factor["kind"] in KINDS and factor["nu"] in (0.0, 0.5, 1.5, 2.5)
    good = good and isinstance(factor["columns"], list) and len(factor["columns"]) > 0
    good = good and all(whole(column, 0, columns - 1) for column in factor["columns"])
    good = good and isinstance(factor["lengthscale"], list)
    good = good and len(factor["lengthscale"]) in (0, len(factor["columns"]))
    good = good and all(number(scale) and scale > 0 for scale in factor["lengthscale"])
    need(good and (factor["kind"] != "matern" or factor["nu"] > 0), "a factor of its kernel is malformed")


def _indices(table: Any, count: int) -> bool:
    return bool(((table >= 0) & (table < count)).all())
