"""The schema of a saved agent; docs/reference/formats.md documents it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cmerl.agents.saving.embeddings import KERNEL, LARGEST, MOST_ACTIONS, check_embeddings, transition_schemas
from cmerl.errors import InputError
from cmerl.growing import Arrays, part
from cmerl.validation.schema import (
    Schema,
    bound,
    check_arrays,
    either,
    flag,
    flags,
    floats,
    items,
    number,
    one_of,
    plain,
    table,
    text,
    whole,
    wholes,
)

MOST = 10**6  # of anything that is counted: steps of an episode, states, numbers of an observation

WORD = text(r"[\w .,+\-…()/]{0,200}")
HISTORY = {
    "history.ret": floats("episodes", least=-1e300, most=1e300),
    "history.length": floats("episodes", least=0, most=MOST),
    "history.seconds": floats("episodes", least=0),
    "history.regret": floats("episodes", least=-1e300, most=1e300, special=True),
    "history.regret_kind": wholes("episodes", most=3),
}
ABOUT = {
    "format": whole(1, MOST),
    "agent": WORD,
    "horizon": whole(1, MOST),
    "seed": whole(0, 2**63 - 1),
    "broken_off": whole(0, 2**53),
    "metrics": items(plain(), most=10**8),
}
INGESTED = items(
    table(
        source=text(r".{0,500}"), episodes=whole(1, 2**53), transitions=whole(1, 2**53), sha256=text(r"[0-9a-f]{64}")
    )
)
LEDGER = plain(depth=6, most=2000, largest=LARGEST)
OPTIONS = table(
    lam=number(1e-15),
    backend=one_of("auto", "exact", "compressed", "nystrom", "fourier"),
    model=one_of("auto", "direct", "displacement"),
    delta=number(1e-300, 1.0),
    max_return=either(one_of(None), number()),
    constants=table(**{name: either(one_of(None), number(1e-300)) for name in ("B_P", "B_V", "B_R")}),
    replan=flag,
    time_homogeneous=flag,
    certify=flag,
    kernel=KERNEL,
    value_kernel=KERNEL,
    mode=plain(depth=6, most=2000, largest=LARGEST),
    reward=one_of("learned", None),
    settings=plain(depth=6, most=2000, largest=LARGEST),
)
EXTREMES = items(items(number(), most=2), 2, 2)
REWARDS_BEFORE: dict[str, Schema] = {
    "declared": flag,
    "range": items(number(), 2, 2),
    "may_end": flag,
    "robust": flag,
    "widened": flag,
    "steps": EXTREMES,
    "ends": EXTREMES,
    "soonest": whole(0, MOST),
}
REWARDS = either(table(**REWARDS_BEFORE), table(**REWARDS_BEFORE, seen=whole(0, 2**53)))
PATH = items(either(whole(0, 1000), text()), most=20)
PART = table(
    path=PATH,
    kind=one_of("numbers", "categories"),
    shape=items(whole(0, MOST), most=8),
    low=items(bound, 1, MOST),
    high=items(bound, 1, MOST),
    dtype=one_of("<i8", "<f8"),
)
OBJECTS = items(plain(depth=20, most=10**7, largest=1e308), most=MOST)
OBJECT_PART = table(path=PATH, kind=one_of("objects"), space=plain(depth=12, most=2 * MOST, largest=1e308))
OBJECT_TABLE = table(objects=OBJECTS, grown=items(items(plain(depth=12, most=MOST, largest=LARGEST), 2, 2)))
NUMBERED_ACTIONS = table(
    shape=items(whole(0, MOST), most=8),
    dtype=text(r"[<>|=][iufb][1248]"),
    bounds=either(one_of(None), items(items(number(), 0, MOST), 2, 2)),
)


def _part(value: Any, place: str) -> None:
    of_objects = isinstance(value, dict) and value.get("kind") == "objects"
    (OBJECT_PART if of_objects else PART)(value, place)


def _states(value: Any, place: str) -> None:
    keys = {"parts": items(_part, 1), "periods": items(number(0.0), 1, MOST)}
    optional = {"objects": items(OBJECT_TABLE, 1), "origins": items(number(), 1, MOST)}
    keys |= {name: check for name, check in optional.items() if isinstance(value, dict) and name in value}
    table(**keys)(value, place)


def _actions(value: Any, place: str) -> None:
    of_objects = isinstance(value, dict) and "objects" in value
    (table(objects=OBJECTS) if of_objects else NUMBERED_ACTIONS)(value, place)


CME_RL = {"options": OPTIONS, "rewards": REWARDS, "states": _states, "actions": _actions, "contradicted": items(WORD)}
CME_RL["exploration"] = table(balance=number(), spent=number())


def check_base(tensors: Arrays, meta: dict[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """What every agent has, checked; returns the rest."""
    own = {name: value for name, value in meta.items() if name in ABOUT}
    table(**ABOUT)(own, "")
    LEDGER(meta.get("ledger"), "ledger")
    INGESTED(meta.get("ingested", []), "ingested")
    flag(meta.get("paused", False), "paused")
    _check_plain_arrays({k: v for k, v in tensors.items() if k.startswith("ledger.")})
    sizes: dict[str, int] = {}
    check_arrays({k: v for k, v in tensors.items() if k.startswith("history.")}, HISTORY, sizes)
    if len(meta["metrics"]) != sizes["episodes"]:
        raise InputError(f"metrics has {len(meta['metrics'])} entries for {sizes['episodes']} episodes")
    for i, entry in enumerate(meta["metrics"]):
        if type(entry) is not dict:
            raise InputError(f"metrics[{i}] must be an object")
    if np.any(tensors["history.length"] % 1.0):
        raise InputError("array 'history.length' must hold whole numbers")
    mine = (*ABOUT, "ledger", "ingested", "paused")
    rest = {name: value for name, value in meta.items() if name not in mine}
    return {k: v for k, v in tensors.items() if not k.startswith(("history.", "ledger."))}, rest


def check_any(tensors: Arrays, meta: dict[str, Any]) -> None:
    """An agent that has no schema of its own: finite numbers of sane sizes, and plain values."""
    arrays, rest = check_base(tensors, meta)
    plain(depth=12, most=100_000, largest=LARGEST)(rest, "")
    _check_plain_arrays(arrays)


def _check_plain_arrays(arrays: Arrays) -> None:
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf" or array.ndim > 6:
            raise InputError(f"array {name!r} must hold numbers")
        if array.dtype.kind == "f" and not np.all(np.abs(array[~np.isinf(array)]) <= LARGEST):
            raise InputError(f"array {name!r} must hold numbers up to {LARGEST:g}")


def check_cme_rl(tensors: Arrays, meta: dict[str, Any], **own: Schema) -> None:
    """CME-RL in all its forms; ``own`` are fields that one form adds."""
    arrays, rest = check_base(tensors, meta)
    if "supervised" in rest:
        items(WORD, 1, 20)(rest.pop("supervised"), "supervised")
    table(**CME_RL, **own)(rest, "")
    d, e = _state_columns(meta["states"]), _action_columns(meta["actions"])
    homogeneous = meta["options"]["time_homogeneous"]
    if not homogeneous and meta["horizon"] > 10_000:
        raise InputError(f"horizon must be at most 10000 if each step has its own transitions, not {meta['horizon']}")
    schemas = {"actions": floats("A", e), "all_states": floats(None, d)}
    _check_object_numbers(arrays, meta["states"], meta["actions"])
    arrays = dict(arrays)
    pending = {name: arrays.pop(name) for name in list(arrays) if name.startswith("pending.")}
    if pending:
        waiting = {"steps": wholes("k", most=meta["horizon"] - 1), "surprise": floats(1)}
        check_arrays(part(pending, "pending"), {**waiting, **transition_schemas("k", d, e)}, {})
    optional = ["all_states"]
    sizes: dict[str, int] = {}
    if "memory.about" in arrays:
        held = {name: arrays.pop(name) for name in list(arrays) if name.startswith(("memory.", "embedding."))}
        actions = arrays["actions"].shape[0] if "actions" in arrays and arrays["actions"].ndim else 0
        check_embeddings(held, d, e, actions, 1 if homogeneous else meta["horizon"])
    else:
        schemas |= {
            **transition_schemas("n", d, e),
            "steps": wholes("n", most=meta["horizon"] - 1),
            "batch_sizes": wholes("batches", most=MOST),
            "batch_ends": flags("batches"),
        }
    check_arrays(arrays, schemas, sizes, optional)
    if not 1 <= sizes["A"] <= MOST_ACTIONS:
        raise InputError(f"array 'actions' must have 1 to {MOST_ACTIONS} rows, not {sizes['A']}")
    if "batch_sizes" in arrays and int(arrays["batch_sizes"].sum()) != sizes["n"]:
        raise InputError(f"array 'batch_sizes' must sum to the {sizes['n']} transitions of the log")


def _state_columns(states: dict[str, Any]) -> int:
    numbers = 0
    if sum(p["kind"] == "objects" for p in states["parts"]) != len(states.get("objects", ())):
        raise InputError("states.objects must have one table for each part of objects")
    for i, p in enumerate(states["parts"]):
        if p["kind"] == "objects":
            numbers += 1
            continue
        size = int(math.prod(p["shape"]))
        if not len(p["low"]) == len(p["high"]) == size:
            raise InputError(f"states.parts[{i}] must have {size} bounds, as its shape says")
        pairs = zip(p["low"], p["high"], strict=True)
        if any(lo is not None and hi is not None and lo > hi for lo, hi in pairs):
            raise InputError(f"states.parts[{i}] has a lower bound above an upper one")
        if p["kind"] == "categories" and any(x is None or abs(x) > 2**53 for x in (*p["low"], *p["high"])):
            raise InputError(f"states.parts[{i}] has categories without bounds")
        numbers += size
    for name in ("periods", "origins"):
        if len(states.get(name, states["periods"])) != numbers:
            raise InputError(f"states.{name} must have {numbers} entries")
    first = states["parts"][0]
    discrete = len(states["parts"]) == 1 and first["kind"] == "categories" and not first["shape"]
    if discrete and first["high"][0] - first["low"][0] >= 10 * MOST:
        raise InputError(f"states.parts[0] must have at most {10 * MOST} states")
    return int(numbers + sum(period > 0 for period in states["periods"]))


def _check_object_numbers(arrays: Arrays, states: dict[str, Any], actions: dict[str, Any]) -> None:
    """States and actions that are objects are held as their numbers in a table."""
    column, tables = 0, iter(states.get("objects", ()))
    periods = iter(states["periods"])
    for p in states["parts"]:
        if p["kind"] == "objects":
            next(periods)
            _check_numbers(arrays, ("Z", "next_states", "all_states"), column, len(next(tables)["objects"]))
            column += 1
        else:  # angles stand behind all other columns
            column += sum(not next(periods) for _ in range(math.prod(p["shape"])))
    if "objects" in actions:
        _check_numbers(arrays, ("actions",), 0, len(actions["objects"]))


def _check_numbers(arrays: Arrays, names: tuple[str, ...], column: int, count: int) -> None:
    for name, array in arrays.items():
        if name.rpartition(".")[2] in names and array.ndim == 2 and array.shape[1] > column:
            numbers = array[:, column]
            if not np.all((numbers >= 0) & (numbers < count) & (numbers % 1.0 == 0)):
                raise InputError(f"array {name!r} must name one of {count} objects in column {column}")


def _action_columns(actions: dict[str, Any]) -> int:
    if "objects" in actions:
        return 1
    e = int(math.prod(actions["shape"]))
    bounds = actions["bounds"]
    if e < 1 or e > MOST or (bounds is not None and not len(bounds[0]) == len(bounds[1]) == e):
        raise InputError(f"actions must have 1 to {MOST} numbers, and as many bounds")
    if bounds is not None and any(lo > hi for lo, hi in zip(*bounds, strict=True)):
        raise InputError("actions.bounds has a lower bound above an upper one")
    return e
