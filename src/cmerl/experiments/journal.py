"""The journal of one unit: an append-only file of checksummed records, from which its agent can be made again.

A record is a header (length and SHA-256) and a payload. It is written by one ``write`` call, so a process that is
killed leaves at most one torn record at the end, which the next one cuts off: that episode is played again, and since
everything is seeded it comes out the same. Writing an episode costs the episode's size, not the run's.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from cmerl.errors import InputError

_HEADER = struct.Struct("<I32s")
SYNC_SECONDS = 1.0  # a power cut loses what was written since; a killed process loses nothing that was written
LOCK_SECONDS = 10.0  # how long to wait for a worker that is about to end


class Journal(Protocol):
    """Where a unit's records go; an engine whose workers share no disk with the driver brings its own."""

    def records(self) -> list[bytes]:
        """All whole records so far."""
        ...

    def append(self, payload: bytes) -> None:
        """Add a record that survives this process from now on."""
        ...


class FileJournal:
    """A journal in a file that only one process at a time may write.

    Opening it waits for the lock and cuts off a torn tail.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = LOCK_SECONDS) -> None:
        self.path = Path(path)
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _wait_for_lock(self._fd, self.path, patience)
            content = self.path.read_bytes()
            self._records = list(split(content))
            sound = sum(_HEADER.size + len(record) for record in self._records)
            self.cut = len(content) - sound  # bytes of a torn or damaged tail
            if self.cut:
                os.ftruncate(self._fd, sound)
        except BaseException:
            os.close(self._fd)
            raise
        self.size = sound
        self._synced = time.monotonic()

    def records(self) -> list[bytes]:
        """All whole records that were there when this was opened."""
        return self._records

    def append(self, payload: bytes) -> None:
        """Add a record, by a single write at the end of the file."""
        record = frame(payload)
        if os.write(self._fd, record) != len(record):
            raise InputError(f"{self.path}: the disk is full")
        self.size += len(record)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until everything is on the disk itself."""
        os.fsync(self._fd)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Give the lock back."""
        self.sync()
        os.close(self._fd)

    def __enter__(self) -> FileJournal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Tail:
    """Reads the records that another process appends to a journal, from an offset on."""

    def __init__(self, path: str | os.PathLike[str], offset: int = 0) -> None:
        self.path = Path(path)
        self.offset = offset

    def __call__(self) -> list[bytes]:
        """Whole records since the last call."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                found = list(split(file.read()))
        except FileNotFoundError:
            return []
        self.offset += sum(_HEADER.size + len(record) for record in found)
        return found


def frame(payload: bytes) -> bytes:
    """A payload as a record."""
    return _HEADER.pack(len(payload), hashlib.sha256(payload).digest()) + payload


def split(content: bytes) -> Iterator[bytes]:
    """Payloads up to the first record that is torn or damaged."""
    start = 0
    while start + _HEADER.size <= len(content):
        length, digest = _HEADER.unpack_from(content, start)
        payload = content[start + _HEADER.size : start + _HEADER.size + length]
        if len(payload) < length or hashlib.sha256(payload).digest() != digest:
            return
        yield payload
        start += _HEADER.size + length


def _wait_for_lock(fd: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise InputError(f"{path} is being written by another process: wait for it or stop it") from None
            time.sleep(0.05)
