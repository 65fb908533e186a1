"""The Ray engine: units on one machine or on a cluster, whose workers and nodes may die.

Every unit is one Ray task that streams its records to the driver, or writes them to a disk that all machines share.
Ray itself retries nothing: a unit whose worker died continues from its journal, so that only what was not yet in it
is played again, and comes out the same.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import ray
import ray.exceptions
from ray._private import ray_constants

from cmerl.errors import InputError
from cmerl.experiments.engines.base import EpisodeFinished, Event, Task, UnitFailed, UnitFinished
from cmerl.experiments.engines.log import open_log
from cmerl.experiments.engines.ray_worker import play_in_worker, versions
from cmerl.experiments.failures import Failure, sentence
from cmerl.experiments.journal import FileJournal, Tail
from cmerl.experiments.packing import unpack

log = logging.getLogger("cmerl")

LOOK_SECONDS = 0.1  # how long to wait for messages before looking into shared journals
ATTEMPTS = 3  # that may die in one and the same episode before the unit is given up
CONNECT_SECONDS = 10.0
LOOPBACK = "127.0.0.1"

WORKER_LOST = (
    ray.exceptions.WorkerCrashedError,
    ray.exceptions.NodeDiedError,
    ray.exceptions.LocalRayletDiedError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.OutOfMemoryError,
)


class RayEngine:
    """Plays units as Ray tasks of one CPU each.

    Args:
        jobs: units at a time; by default as many as the cluster has CPUs.
        address: of a cluster to join, such as "auto" or "10.0.0.1:6379"; by default one is started on this machine
            that listens on the loopback interface only, and ends with the run.
        journals: whether records go through the "driver", which alone writes them, or straight to a disk that is
            mounted at the same path on all machines ("shared").
    """

    def __init__(self, *, jobs: int | None = None, address: str | None = None, journals: str = "driver") -> None:
        if address is not None and address.startswith("ray://"):
            raise InputError(
                f"address {address!r}: Ray's client cannot stream results; start the run on a machine of the cluster "
                "with address 'auto'"
            )
        self.jobs = jobs
        self.address = address
        self.records: type[_Records] = _OnSharedDisk if journals == "shared" else _ThroughDriver

    def run(self, tasks: Sequence[Task]) -> Generator[Event, None, None]:
        """Play all tasks; closing the generator cancels them, and ends a cluster that was started here."""
        waiting = [_Attempt(task, self.records(task)) for task in tasks]
        if not waiting:
            return
        with _connected(self.address, self.jobs or min(len(waiting), os.cpu_count() or 1)):
            running: dict[Any, _Attempt] = {}
            try:
                while waiting or running:
                    for attempt in waiting[: max(self._room() - len(running), 0)]:
                        waiting.remove(attempt)
                        running[attempt.start()] = attempt
                    ready, _ = ray.wait(list(running), num_returns=len(running), timeout=LOOK_SECONDS)
                    for attempt in running.values():
                        yield from attempt.news()
                    for stream in ready:
                        yield from running[stream].take(stream)
                        if not running[stream].alive:
                            attempt = running.pop(stream)
                            waiting += [] if attempt.over else [attempt]
            finally:
                for stream, attempt in running.items():
                    ray.cancel(stream, force=True)
                    attempt.records.close()

    def _room(self) -> int:
        """Units at a time; nodes may come and go."""
        return self.jobs or max(int(ray.cluster_resources().get("CPU", 1)), 1)  # type: ignore[no-untyped-call, unused-ignore]


@contextmanager
def _connected(address: str | None, cpus: int) -> Iterator[None]:
    """Join a cluster, or start one here; one that the process has joined before is used and left as it is."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of a coming change at each task
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    try:
        if address is None:
            with loopback():
                ray.init("local", num_cpus=cpus, include_dashboard=False, _node_ip_address=LOOPBACK, **options)
            if (listens := ray.util.get_node_ip_address()) != LOOPBACK:  # type: ignore[no-untyped-call, unused-ignore]
                log.warning("Ray listens on %s, not on the loopback interface only: check who can reach it", listens)
        else:
            _check_reachable(address)
            ray.init(address, **options)
    except (OSError, ValueError, RuntimeError) as error:
        where = "could not be started on this machine" if address is None else f"does not answer at {address!r}"
        raise InputError(f"a Ray cluster {where}: {(str(error) or type(error).__name__).splitlines()[0]}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise OSError if nothing listens at the address; Ray would take minutes to notice."""
    host, _, port = address.rpartition(":")
    if port.isdecimal():
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()


@contextmanager
def loopback() -> Iterator[None]:
    """Let Ray take 127.0.0.1 for an answer, as it does by itself on systems where it runs on one machine only."""
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


# --- a unit, as the driver sees it ---


class _Records(Protocol):
    """How the records of a unit get into its journal."""

    def __init__(self, task: Task) -> None: ...

    def open(self) -> Path | list[bytes]:
        """What a new worker needs to go on."""
        ...

    def receive(self, records: list[bytes]) -> None:
        """Keep what a worker sent."""
        ...

    def news(self) -> list[bytes]:
        """What a worker wrote by itself since the last look."""
        ...

    def close(self) -> None:
        """No worker is at it any more."""
        ...


class _ThroughDriver(_Records):
    """Workers send records, and the driver alone writes: a worker given up for lost can do no harm."""

    def __init__(self, task: Task) -> None:
        self._path = task.journal
        self._file: FileJournal | None = None

    def open(self) -> list[bytes]:
        self._file = FileJournal(self._path)
        return self._file.records()

    def receive(self, records: list[bytes]) -> None:
        assert self._file is not None
        for record in records:
            self._file.append(record)

    def news(self) -> list[bytes]:
        return []

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _OnSharedDisk(_Records):
    """Workers write, and the driver reads along; the journal's lock keeps two workers apart."""

    def __init__(self, task: Task) -> None:
        self._path = task.journal.absolute()
        self._tail = Tail(self._path, task.offset)

    def open(self) -> Path:
        return self._path

    def receive(self, records: list[bytes]) -> None:
        raise AssertionError("workers on a shared disk send no records")

    def news(self) -> list[bytes]:
        return self._tail()

    def close(self) -> None:
        pass


@dataclass
class _Attempt:
    """A task under way: ``alive`` while it has a worker, ``over`` when it needs none any more."""

    task: Task
    records: _Records
    alive: bool = False
    over: bool = False
    episodes: int = 0
    deaths: list[int] = field(default_factory=list)  # episodes that were finished when a worker died

    def start(self) -> Any:
        """Give it a worker, whose stream of messages is returned."""
        self.alive = True
        remote = ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(play_in_worker)
        return remote.remote(self.task.unit, self.records.open(), versions(), sys.path)

    def news(self) -> Iterator[Event]:
        """Episodes that a worker has written down by itself."""
        yield from self._episodes(self.records.news())

    def take(self, stream: Any) -> Iterator[Event]:
        """What the worker's next message says, or its silence."""
        try:
            message = ray.get(next(stream))
        except WORKER_LOST as error:
            message = {"lost": type(error).__name__}
        except ray.exceptions.RayError as error:
            message = {"failure": Failure(sentence(error))}
        match message:
            case {"log": text}:
                with open_log(self.task.journal.parents[1] / "run.log") as file:
                    file.write(text + "\n")
            case {"records": records}:
                self.records.receive(records)
                yield from self._episodes(records)
            case _:
                yield from self.news()
                self.records.close()
                self.alive = False
                yield from self._end(message)

    def _end(self, message: dict[str, Any]) -> Iterator[Event]:
        unit = self.task.unit
        match message:
            case {"lost": how}:
                self.deaths.append(self.episodes)
                self.over = self.deaths.count(self.episodes) >= ATTEMPTS
                if self.over:
                    yield UnitFailed(
                        unit, f"its worker died {ATTEMPTS} times in one episode ({how}); is memory short?"
                    )
                else:
                    log.info("%s: its worker died (%s); it continues from its journal", unit.title, how)
            case {"failure": reason}:
                self.over = True
                yield UnitFailed(unit, *reason)
            case {"report": report}:
                self.over = True
                yield UnitFinished(unit, report)

    def _episodes(self, records: list[bytes]) -> Iterator[Event]:
        for payload in records:
            record = unpack(payload)
            if "line" in record:
                self.episodes += 1
                yield EpisodeFinished(self.task.unit, record["line"])
