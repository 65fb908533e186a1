"""One thread for linear algebra.

Matrices of a few hundred rows are too small to share: with two threads an episode of control takes several times as
long, and results depend on the number of cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _Inside:
    """How many calls of ``one_thread`` of all threads of the program have begun and not ended."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin with none."""
        self.lock, self.calls = threading.Lock(), 0
        self.limit: Any = None  # what the last one to leave has to undo


_inside = _Inside()
os.register_at_fork(after_in_child=_inside.begin)  # the calls are those of the parent


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, BLAS computes with one thread; afterwards the former number is restored. Calls may be nested."""
    with _inside.lock:
        if not _inside.calls:
            _inside.limit = _libraries().limit(limits=1)
        _inside.calls += 1
    try:
        yield
    finally:
        with _inside.lock:
            _inside.calls -= 1
            if not _inside.calls:
                _inside.limit.restore_original_limits()
