"""Transactions: if a block fails or is interrupted, objects return to their former state.

Nothing large is copied. Data only grow at their ends, so it is enough to record their length. A class that changes in
place defines how to undo it (`Undoable`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any, Protocol

import numpy as np

Undo = Callable[[], None]

_local = threading.local()
_KINDS: dict[type, str] = {}


class Undoable(Protocol):
    """Something that changes in place, beyond its attributes being replaced.

    A class may also name attributes in ``not_turned_back``: ``undo`` alone deals with those, or they may change.
    """

    def undo(self) -> Undo:
        """A function that turns back what changes in place from now on; it is called after attributes are back."""
        ...


@contextmanager
def all_or_nothing(*roots: Any) -> Iterator[None]:
    """Whatever ends the block early, Ctrl-C and lack of memory included, these objects are then as before it.

    Blocks inside one another are one: the outermost turns everything back.

    Args:
        roots: objects of this package that the block changes, with all that belongs to them.
    """
    if getattr(_local, "inside", False):
        yield
        return
    turn_back = checkpoint(*roots)
    _local.inside = True
    try:
        yield
    except BaseException:
        try:
            turn_back()
        except BaseException:  # a second Ctrl-C: turning back twice does no harm
            turn_back()
            raise
        raise
    finally:
        _local.inside = False


def checkpoint(*roots: Any) -> Undo:
    """A function that makes objects what they are now."""
    undos: list[Undo] = []
    seen: dict[int, Any] = {}  # holds the objects, so that no number is used twice
    waiting = list(roots)
    while waiting:
        item = waiting.pop()
        kind = _KINDS.get(type(item)) or _kind(type(item))
        if not kind or id(item) in seen:
            continue
        seen[id(item)] = item
        if kind == "tuple":
            waiting += item
        elif kind == "list":
            undos.append(_undo_list(item, list(item)))
            if any(_kind(type(entry)) == "object" for entry in item[:1]):
                waiting += item
        elif kind == "dict":
            undos.append(_undo_dict(item, dict(item)))
            waiting += item.values()
        elif kind == "generator":
            undos.append(_undo_generator(item, item.bit_generator.state))
        else:
            state = dict(vars(item))
            for name in getattr(item, "not_turned_back", ()):
                state.pop(name, None)
            undos.append(_undo_object(item, state, item.undo() if hasattr(item, "undo") else None))
            waiting += [value for value in state.values() if _KINDS.get(type(value), "?")]

    def turn_back() -> None:
        for undo in undos:
            undo()

    return turn_back


def _kind(cls: type) -> str:
    """How an object of a class is restored; "" if it cannot change or is not cmerl's."""
    if cls not in _KINDS:
        frozen = is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        plain = {list: "list", dict: "dict", tuple: "tuple", np.random.Generator: "generator"}
        ours = cls.__module__.startswith("cmerl.") and hasattr(cls, "__dict__") and not frozen
        _KINDS[cls] = plain.get(cls, "object" if ours and not issubclass(cls, tuple | type) else "")
    return _KINDS[cls]


def _undo_list(item: list[Any], content: list[Any]) -> Undo:
    def undo() -> None:
        item[:] = content

    return undo


def _undo_dict(item: dict[Any, Any], content: dict[Any, Any]) -> Undo:
    def undo() -> None:
        item.clear()
        item.update(content)

    return undo


def _undo_generator(rng: np.random.Generator, state: Any) -> Undo:
    def undo() -> None:
        rng.bit_generator.state = state

    return undo


def _undo_object(item: Any, state: dict[str, Any], inner: Undo | None) -> Undo:
    outside = getattr(item, "not_turned_back", ())

    def undo() -> None:
        own = vars(item)
        own.update(state)
        for name in [name for name in own if name not in state and name not in outside]:
            del own[name]
        if inner is not None:
            inner()

    return undo
