"""Ctrl-C after a given number of lines of cmerl's own code: the same moment whenever it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class Outcome:
    """Whether the interrupt came before the block was over."""

    interrupted: bool = False


@contextmanager
def interrupted_after(
    lines: int, skip: tuple[str, ...] = ("rollback",), function: str | None = None
) -> Iterator[Outcome]:
    """Raise KeyboardInterrupt once so many lines of cmerl have run, and swallow it.

    Args:
        lines: of the package's modules.
        function: lines count only while a function of this name runs, if given.
        skip: modules in which no interrupt comes: a second one while the first is dealt with is another test's.
    """
    left = lines
    outcome = Outcome()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("cmerl.") or module.rpartition(".")[2] in skip:
            return None
        if event == "line" and (function is None or _inside(frame, function)):
            left -= 1
            if left == 0:
                outcome.interrupted = True
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield outcome
    except KeyboardInterrupt:
        if not outcome.interrupted:
            raise
    finally:
        sys.settrace(before)


def _inside(frame: FrameType | None, function: str) -> bool:
    """Whether a function of that name is being run."""
    while frame is not None:
        if frame.f_code.co_name == function:
            return True
        frame = frame.f_back
    return False
