"""The journal of one unit: an append-only file of checksummed records, from which its agent can be rebuilt.

A record is a header (length and SHA-256) and a payload. It is written by one ``write`` call, so a process that is
killed leaves at most one torn record at the end, which the next one cuts off: that episode is played again, and since
everything is seeded it comes out the same. Writing an episode costs the episode's size, not the run's.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import os
import secrets
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from cmerl.errors import InputError
from cmerl.files import open_inside, open_regular, saying_why, write_atomically

log = logging.getLogger("cmerl")

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

    Opening it waits for the lock. What is torn or damaged at its end stays until the first record is appended: by
    then the records before it have been replayed. Of a journal that is damaged in its very first record nothing is
    left to replay, and it is kept under another name.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = LOCK_SECONDS) -> None:
        self.path = Path(path)
        self._fd = open_inside(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            _wait_for_lock(self._fd, self.path, patience)
            content = _content(self._fd)
            self._records = list(split(content))
            self.size = sum(_HEADER.size + len(record) for record in self._records)
            self.cut = len(content) - self.size  # bytes of a torn or damaged tail
            self._damaged_start = b"" if self._records or not _whole_frame(content) else content
        except BaseException:
            os.close(self._fd)
            raise
        self._torn = bool(self.cut)
        self._synced = time.monotonic()

    def records(self) -> list[bytes]:
        """All whole records that were there when this was opened."""
        return self._records

    def append(self, payload: bytes) -> None:
        """Add a record, by a single write at the end of the file."""
        record = frame(payload)
        with saying_why(self.path):
            if self._torn:
                self._cut_off()
            if os.write(self._fd, record) != len(record):
                os.ftruncate(self._fd, self.size)
                raise OSError(errno.ENOSPC, "the disk is full")
        self.size += len(record)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def _cut_off(self) -> None:
        """Drop what is not sound, now that the rest has been replayed."""
        if self._damaged_start:
            aside = self.path.with_name(f"{self.path.name}.damaged-{secrets.token_hex(4)}")
            write_atomically(aside, [self._damaged_start])
            log.warning("%s is damaged from its first record on: kept as %s", self.path, aside.name)
        else:
            log.info("%s: %d bytes after the last whole episode are cut off", self.path.name, self.cut)
        os.ftruncate(self._fd, self.size)
        self._torn = False

    def sync(self) -> None:
        """Wait until everything is on the disk itself."""
        os.fsync(self._fd)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Give the lock back."""
        try:
            with saying_why(self.path):
                self.sync()
        finally:
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
            with open_regular(self.path) as file:
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


def _content(fd: int) -> bytes:
    """All of an open file."""
    size = os.fstat(fd).st_size
    parts, start = [], 0
    while start < size and (piece := os.pread(fd, size - start, start)):
        parts.append(piece)
        start += len(piece)
    return b"".join(parts)


def _whole_frame(content: bytes) -> bool:
    """Whether the first record is as long as it says, and so is not torn but damaged."""
    if len(content) < _HEADER.size:
        return False
    length, _ = _HEADER.unpack_from(content)
    return len(content) > _HEADER.size + length or len(content) > 4096


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
