"""The local engine: loky workers on this machine write journals, which the driver follows."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loky import ProcessPoolExecutor, cpu_count

from cmerl.experiments.engines.base import EpisodeFinished, Event, Task, UnitFailed, UnitFinished, UnitStarted
from cmerl.experiments.engines.log import LogFile
from cmerl.experiments.failures import failure_of, sentence
from cmerl.experiments.journal import FileJournal, Tail
from cmerl.experiments.own import hand_over
from cmerl.experiments.packing import unpack
from cmerl.experiments.units import Unit, play

log = logging.getLogger("cmerl")

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
LOOK_SECONDS = 0.1  # how often the driver looks into the journals
_PR_SET_PDEATHSIG = 1  # of prctl(2)
ATTEMPTS = 3  # that may die in one and the same episode before the unit is given up


class LocalEngine:
    """Plays ``jobs`` units at a time; by default as many as there are cores."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or cpu_count()

    def run(self, tasks: Sequence[Task]) -> Generator[Event, None, None]:
        """Play all tasks; closing the generator kills the workers, which journals are made for."""
        waiting = [_Attempt(task, Tail(task.journal, task.offset)) for task in tasks]
        slots = [_Slot() for _ in range(min(self.jobs, len(waiting)))]
        running: dict[Future[dict[str, Any]], tuple[_Slot, _Attempt]] = {}
        try:
            while waiting or running:
                busy = [slot for slot, _ in running.values()]
                for slot in slots:
                    if waiting and slot not in busy:
                        attempt = waiting.pop(0)
                        running[slot.start(attempt.task)] = slot, attempt
                        yield UnitStarted(attempt.task.unit)
                done, _ = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for _, attempt in list(running.values()):
                    yield from attempt.news()
                for future in done:
                    slot, attempt = running.pop(future)
                    yield from attempt.news()
                    last = attempt.outcome(future)
                    if last is not None:
                        yield last
                    else:  # its worker was killed: the unit continues from its journal, in a new one
                        waiting.insert(0, attempt)
        finally:
            for slot in slots:
                slot.close()


@dataclass
class _Attempt:
    """A task under way."""

    task: Task
    tail: Tail
    episodes: int = 0
    deaths: list[int] = field(default_factory=list)  # episodes that were finished when a worker died

    def news(self) -> Iterator[Event]:
        for payload in self.tail():
            record = unpack(payload)
            if "line" in record:
                self.episodes += 1
                yield EpisodeFinished(self.task.unit, record["line"])

    def outcome(self, future: Future[dict[str, Any]]) -> Event | None:
        """How a worker ended with the unit, or None if the unit is to be tried again."""
        unit = self.task.unit
        try:
            result = future.result()
        except BrokenProcessPool:
            self.deaths.append(self.episodes)
            if self.deaths.count(self.episodes) < ATTEMPTS:
                log.warning("%s: its worker was killed; it continues from its journal", unit.title)
                return None
            return UnitFailed(unit, f"its worker was killed {ATTEMPTS} times in one episode; is memory short?")
        except Exception as error:  # what loky itself has to say
            return UnitFailed(unit, sentence(error))
        if "failure" in result:
            return UnitFailed(unit, *result["failure"])
        return UnitFinished(unit, result["report"])


class _Slot:
    """Room for one worker at a time, with an executor of its own: a worker that dies takes no other with it."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None

    def start(self, task: Task) -> Future[dict[str, Any]]:
        with _interrupts_blocked():  # workers inherit it: Ctrl-C is the driver's to deal with
            try:
                return self._submit(task)
            except BrokenProcessPool:  # the last worker died, with a unit or without
                self.close()
                return self._submit(task)

    def _submit(self, task: Task) -> Future[dict[str, Any]]:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(1, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),))
        unit = task.unit
        future: Future[dict[str, Any]] = self._executor.submit(_work, unit, task.journal, log.level, unit.parts)
        return future

    def close(self) -> None:
        if self._executor is not None:
            executor, self._executor = self._executor, None
            executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let an interrupt wait; the mask alone would not do, as another thread may take the signal for this one."""
    missed: list[int] = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    listens = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, frame: missed.append(number)) if listens else None
    try:
        yield
    finally:
        if listens:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if missed:
            signal.raise_signal(signal.SIGINT)


# --- in the worker ---


def end_with(driver: int) -> None:
    """End this process when its parent ends, even if that is killed: a signal on Linux, and a thread that polls.

    Args:
        driver: the process id of the parent, which the parent passes: it may be gone when this is called.
    """
    _die_with_parent()

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _die_with_parent() -> None:
    """Let Linux kill this process when its parent is gone, even while it is busy in code that no thread can stop."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _work(unit: Unit, path: Path, log_level: int, parts: dict[str, Any]) -> dict[str, Any]:
    """Play a unit; a failure is returned as a sentence with its place, its traceback goes to the log."""
    hand_over(parts)
    _log_to(path.parents[1] / "run.log", log_level)
    try:
        with FileJournal(path) as journal:
            return {"report": play(unit, journal)}
    except (Exception, SystemExit) as error:
        log.error("%s failed", unit.title, exc_info=True)
        return {"failure": failure_of(error)}


def _log_to(path: Path, level: int) -> None:
    """Messages of workers, and warnings of their environments, go to a file: the driver's terminal shows bars."""
    if not log.handlers:
        handler = LogFile(path, delay=True, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logging.captureWarnings(True)
        for source in (log, logging.getLogger("py.warnings")):
            source.addHandler(handler)
            source.propagate = False
    log.setLevel(level)
