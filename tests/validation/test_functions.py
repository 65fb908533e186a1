"""With how many arguments functions of users are called."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from cmerl.errors import InputError
from cmerl.validation.functions import count_arguments

WAYS = "(obs, step)", "(obs)"


class Controller:
    def __call__(self, obs: Any, step: int = 0) -> int:
        return step


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda obs, step: 0, 2),
        (lambda obs: 0, 1),
        (lambda *args: 0, 2),
        (lambda obs, gain=0.5: 0, 1),  # its own
        (lambda obs, step=0: 0, 2),
        (lambda obs, step, gain=0.5: 0, 2),
        (lambda obs, *, gain=0.5: 0, 1),
        (Controller(), 2),
        (functools.partial(lambda gain, obs: 0, 0.5), 1),
        (max, 2),  # says nothing of its arguments
    ],
)
def test_what_a_function_is_called_with(function: Any, count: int) -> None:
    assert count_arguments(function, "policy", *WAYS) == count


@pytest.mark.parametrize("function", [lambda: 0, lambda obs, step, more: 0, lambda *, obs: 0])
def test_no_way_fits(function: Any) -> None:
    with pytest.raises(InputError, match=r"policy must take \(obs\) or \(obs, step\), and takes \("):
        count_arguments(function, "policy", *WAYS)
