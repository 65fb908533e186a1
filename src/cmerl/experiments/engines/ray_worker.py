"""A worker of the Ray engine: it plays one unit, and tells the driver about it in messages."""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cmerl.experiments.failures import Failure, failure_of
from cmerl.experiments.journal import FileJournal, Journal
from cmerl.experiments.units import Unit, play

log = logging.getLogger("cmerl")

SAME_EVERYWHERE = ("cmerl", "numpy", "scipy", "gymnasium")  # what decides bits


def play_in_worker(
    unit: Unit, journal: Path | list[bytes], expected: dict[str, str], path: list[str]
) -> Generator[dict[str, Any], None, None]:
    """Play a unit, and tell about it in messages: records, lines of a log, and at last a report or a failure.

    Args:
        unit: what to play.
        journal: the file to continue from and write to; or the records so far, new ones being sent.
        expected: versions of the driver.
        path: where the driver finds modules; environments of a file beside it are found by workers of this machine.
    """
    sys.path += [entry for entry in path if entry not in sys.path]
    if versions() != expected:
        yield {
            "failure": Failure(
                f"a worker has other versions than the driver: {versions()}, not {expected}; install the same"
            )
        }
        return
    outbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    # Playing calls back and sending yields, so that they need a thread each.
    threading.Thread(target=lambda: outbox.put(_outcome(unit, journal, outbox)), daemon=True).start()
    last = False
    while not last:
        messages = [outbox.get()]
        while not outbox.empty():
            messages.append(outbox.get())
        records = [message["record"] for message in messages if "record" in message]
        if records:  # those of many short episodes go together
            yield {"records": records}
        for message in messages:
            if "record" not in message:
                yield message
        last = "report" in messages[-1] or "failure" in messages[-1]


def _outcome(unit: Unit, journal: Path | list[bytes], outbox: queue.SimpleQueue[dict[str, Any]]) -> dict[str, Any]:
    """Play a unit; a failure is a sentence."""
    handler = _Forward(outbox)
    log.addHandler(handler)
    try:
        if isinstance(journal, Path):
            with FileJournal(journal) as file:
                return {"report": play(unit, file)}
        return {"report": play(unit, _SentJournal(journal, outbox))}
    except (Exception, SystemExit) as error:
        log.error("%s failed", unit.title, exc_info=True)
        return {"failure": failure_of(error)}
    finally:
        log.removeHandler(handler)


@dataclass(frozen=True)
class _SentJournal(Journal):
    """The journal of a worker that shares no disk with the driver."""

    so_far: list[bytes]
    outbox: queue.SimpleQueue[dict[str, Any]]

    def records(self) -> list[bytes]:
        return self.so_far

    def append(self, payload: bytes) -> None:
        self.outbox.put({"record": payload})


class _Forward(logging.Handler):
    """Sends what is logged to the driver."""

    def __init__(self, outbox: queue.SimpleQueue[dict[str, Any]]) -> None:
        super().__init__()
        self._outbox = outbox
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self._outbox.put({"log": self.format(record)})


def versions() -> dict[str, str]:
    """Versions of the packages that decide bits, in this process."""
    return {package: version(package) for package in SAME_EVERYWHERE}
