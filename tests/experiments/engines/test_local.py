"""Workers on one machine, and interrupts while they start."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from cmerl.experiments.engines import local
from cmerl.experiments.engines.base import Task
from cmerl.experiments.spec import parse
from cmerl.experiments.units import units_of


def interrupted(reached: list[str]) -> type:
    """An executor that is interrupted in the middle of starting its worker."""

    class Executor:
        def __init__(self, *arguments: Any, **options: Any) -> None:
            pass

        def submit(self, *arguments: Any) -> Future[Any]:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            reached.append("end")
            return Future()

        def shutdown(self, **options: Any) -> None:
            reached.append("closed")

    return Executor


def test_an_interrupt_waits_while_a_worker_starts_whichever_thread_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, reached = threading.Event(), list[str]()
    monkeypatch.setattr(local, "ProcessPoolExecutor", interrupted(reached))
    unit = units_of(parse({"environments": ["cmerl/Chain-v0"], "agents": ["random"], "episodes": 1}))[0]
    other = threading.Thread(target=stop.wait)  # takes what the main thread has blocked
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(local.LocalEngine(jobs=1).run([Task(unit, tmp_path / "one.journal", 0)]))
    finally:
        stop.set()
        other.join()
    assert reached == ["end", "closed"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
