"""Validation errors of pydantic as one sentence with the place and the fix."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

_SINGULAR = {"environments": "environment", "agents": "agent", "wrappers": "wrapper"}
_WANTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "dict_type": "a table, such as {states = 8}",
    "tuple_type": "a list",
    "model_type": "a name, a table or, in Python, a class or callable that makes one",
}


def first_sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """The first mistake: where, what, and what to do."""
    # A misspelt key first: what it was meant for is likely to be missing too.
    mistakes = sorted(error.errors(include_url=False), key=lambda mistake: mistake["type"] != "extra_forbidden")
    first = mistakes[0]
    # Of a value that may be one thing or another, pydantic reports why it is neither.
    rivals = [m for m in mistakes if m["loc"][:1] == first["loc"][:1] and m["loc"][:1] == ("seeds",)]
    if rivals:
        return _about_seeds(rivals[0]["input"])
    location, kind = first["loc"], first["type"]
    where, last = place(location[:-1]), str(location[-1]) if location else ""
    if kind == "extra_forbidden":
        known = _fields(model, location[:-1])
        return f"{where}there is no key {last!r}: {nearest(last, known)}"
    if kind == "missing":
        return f"{where}{last!r} is missing: {_example(last)}"
    if kind == "value_error":
        return f"{place(location)}{first['ctx']['error']}"
    if kind == "too_short":
        return f"{where}{last} is empty: {_example(last)}"
    if kind == "string_too_short":
        return f"{where}{last} is empty text: {_example(last)}"
    value = first["input"]
    if kind == "greater_than_equal":
        return f"{where}{last} must be a whole number of at least {first['ctx']['ge']}, not {_shown(value)}"
    if kind in ("less_than_equal", "less_than", "greater_than"):
        sign = {"less_than_equal": "at most", "less_than": "less than", "greater_than": "more than"}[kind]
        limit = next(iter(first["ctx"].values()))
        return f"{where}{last} must be {sign} {limit}, not {_shown(value)}"
    if kind == "string_too_long":
        return f"{where}{last} is too long: at most {first['ctx']['max_length']} signs"
    if kind == "literal_error":
        allowed = [option.strip("'") for option in first["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        return f"{where}{last} cannot be {_shown(value)}: {nearest(str(value), allowed)}"
    wanted = _WANTED.get(kind)
    if wanted is None:
        return f"{place(location)}{first['msg'][:1].lower()}{first['msg'][1:]}"
    return f"{place(location).removesuffix(': ')} must be {wanted}, not {_shown(value)}"


def _shown(value: Any) -> str:
    """A value that may be a number of thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of too many digits"
    return text if len(text) <= 80 else f"{text[:77]}…"


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint: the known word that looks most like this one, or all of them."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, 1, cutoff=0.6)
    return f"did you mean {names[near[0]]!r}?" if near else f"there are {', '.join(names.values()) or 'none'}"


def place(location: tuple[int | str, ...]) -> str:
    """A path into the spec for people, counting from 1: "environment 2, wrapper 1, name: "."""
    words: list[str] = []
    for part in location:
        if isinstance(part, int):
            words[-1] = f"{_SINGULAR.get(words[-1], words[-1])} {part + 1}"
        else:
            words.append(part)
    return ", ".join(words) + ": " if words else ""


def _about_seeds(value: Any) -> str:
    if isinstance(value, list | tuple) and any(type(seed) is int and seed >= 2**63 for seed in value):
        return "seeds must be whole numbers from 0 to 2⁶³ − 1"
    if isinstance(value, int) and not isinstance(value, bool):
        if value > 10**6:
            return f"seeds must be at most a million, not {_shown(value)}"
        return f"seeds must be a number of at least 1 or a list of numbers of at least 0, not {_shown(value)}"
    if value in ([], ()):
        return "seeds is an empty list: say how many, such as seeds = 8, or which, such as seeds = [0, 1, 2]"
    return f"seeds must be how many, such as 8, or which, such as [0, 1, 2], not {_shown(value)}"


def _example(key: str) -> str:
    examples = {
        "environments": 'say what to run in, such as environments = ["cmerl/RiverSwim-v0"]',
        "agents": 'say who plays, such as agents = ["cme-rl", "random"]',
        "id": 'give the id that Gymnasium knows it by, such as id = "cmerl/RiverSwim-v0"',
        "name": 'give its name, such as name = "cme-rl"',
    }
    return examples.get(key, "give it a value or leave it out")


def _fields(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Keys that the table at a location may have."""
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            inner = _model_in(model.model_fields[part].annotation)
            if inner is None:
                return []
            model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, typing.get_args(annotation))), None)
