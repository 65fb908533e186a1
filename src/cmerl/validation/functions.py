"""Functions of users: with how many arguments they are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from cmerl.errors import InputError


def count_arguments(function: Callable[..., Any], name: str, *ways: str) -> int:
    """With how many arguments to call a function: those of the first way that fits, or if nothing is known of it.

    An argument with a default value is the user's own, such as a gain, unless it has the name that a way has.

    >>> count_arguments(lambda obs, step: 0, "policy", "(obs, step)", "(obs)")
    2
    >>> count_arguments(lambda obs, gain=0.5: 0, "policy", "(obs, step)", "(obs)")
    1

    Args:
        function: the function.
        name: what a message calls it.
        ways: such as "(obs, step)", the one with most arguments first.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin
        return _count(ways[0])
    own = [p.name for p in signature.parameters.values() if p.default is not p.empty]
    for way in ways:
        try:
            bound = signature.bind(*way.strip("()").split(", ")).arguments
        except TypeError:
            continue
        if way == ways[-1] or not any(given in own and given != ours for given, ours in bound.items()):
            return _count(way)
    raise InputError(f"{name} must take {' or '.join(reversed(ways))}, and takes {signature}")


def _count(way: str) -> int:
    return way.count(",") + 1
