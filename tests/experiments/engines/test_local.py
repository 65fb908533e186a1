"""Workers on one machine, and interrupts while they start."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from cmerl.experiments.engines import local


def interrupted_start(reached: list[str]) -> None:
    """An interrupt in the middle of what must not be interrupted."""
    with local._interrupts_blocked():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        reached.append("end")


def test_an_interrupt_waits_while_a_worker_starts_whichever_thread_takes_it() -> None:
    stop, reached = threading.Event(), list[str]()
    other = threading.Thread(target=stop.wait)  # takes what the main thread has blocked
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted_start(reached)
    finally:
        stop.set()
        other.join()
    assert reached == ["end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
