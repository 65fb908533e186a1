"""Disks that are full or read-only, directories that move, two processes at once: a sentence, and nothing lost."""

from __future__ import annotations

import errno
import os
import random
import shutil
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
from rows import Row
from run_directories import inline, make, timeless

import cmerl
from cmerl import experiments, files
from cmerl.errors import CmerlError, InputError
from cmerl.experiments import journal

CODES = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO)


class Disk:
    """``os.write`` and ``os.fsync`` that fail from the k-th call on, for files of a run."""

    def __init__(self, left: int, code: int) -> None:
        self.left, self.code = left, code
        self.write, self.fsync = os.write, os.fsync

    def _maybe(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(self.code, os.strerror(self.code))

    def failing_write(self, fd: int, data: Any) -> int:
        self._maybe()
        return self.write(fd, data)

    def failing_fsync(self, fd: int) -> None:
        self._maybe()
        self.fsync(fd)


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """Runs, resumes and saves on failing disks. ``broken``: errors of the system are passed on as they are."""
    rng, row = random.Random(seed), Row("disks, two resumes")
    sound = make(where)
    wanted = timeless(sound)
    agent = cmerl.agents.make("psrl", gymnasium.make("cmerl/RiverSwim-v0")).learn(1)
    raw = lambda *_: nullcontext()  # noqa: E731
    with inline(), mock.patch.object(files, "saying_why", raw) if broken else nullcontext():
        for i in range(count):
            kind = ("run", "save", "moved", "two")[i % 4]
            directory = where / f"disk-{i}"
            row.attempt(
                f"{kind} {i} of seed {seed}", lambda k=kind, d=directory: _DEEDS[k](d, sound, wanted, agent, rng)
            )
            shutil.rmtree(directory, ignore_errors=True)
    return row


def _run(directory: Path, sound: Path, wanted: Any, agent: Any, rng: random.Random) -> str:
    shutil.copytree(sound, directory)
    for path in (directory / "journals").iterdir():
        path.write_bytes(b"".join(map(journal.frame, list(journal.split(path.read_bytes()))[: rng.randint(0, 4)])))
    disk = Disk(rng.randrange(40), rng.choice(CODES))
    said = False
    with mock.patch.object(os, "write", disk.failing_write), mock.patch.object(os, "fsync", disk.failing_fsync):
        try:
            said = bool(experiments.resume(directory).failures)
        except CmerlError:
            said = True
    if experiments.resume(directory).failures or timeless(directory) != wanted:
        return "bad: it does not go on once the disk is mended"
    return "told, and went on" if said else "enough room"


def _save(directory: Path, sound: Path, wanted: Any, agent: Any, rng: random.Random) -> str:
    directory.mkdir()
    path = directory / "agent.cmerl"
    agent.save(path)
    before = path.read_bytes()
    with mock.patch.object(os, "fsync", Disk(0, rng.choice(CODES)).failing_fsync):
        try:
            agent.save(path)
            return "bad: a full disk was not noticed"
        except InputError:
            pass
    if path.read_bytes() != before or len(list(directory.iterdir())) != 1:
        return "bad: a save that failed left a trace"
    return "told, and the old file is whole"


def _moved(directory: Path, sound: Path, wanted: Any, agent: Any, rng: random.Random) -> str:
    shutil.copytree(sound, directory)
    next((directory / "journals").iterdir()).unlink()
    away = directory.with_name(directory.name + "-away")

    def move(event: Any, ledger: Any) -> None:
        if directory.exists():
            directory.rename(away)

    try:
        experiments.resume(directory, callbacks=[move])
        outcome = "bad: a directory that is gone was not noticed"
    except InputError:
        outcome = "told, and went on"
    if not experiments.resume(away).finished or timeless(away) != wanted:
        outcome = "bad: what was moved cannot go on"
    shutil.rmtree(away)
    return outcome


def _two(directory: Path, sound: Path, wanted: Any, agent: Any, rng: random.Random) -> str:
    shutil.copytree(sound, directory)
    next((directory / "journals").iterdir()).unlink()
    second: list[Any] = []

    def other(event: Any, ledger: Any) -> None:
        def go() -> None:
            try:
                second.append(experiments.resume(directory))
            except InputError as error:
                second.append(error)

        thread = threading.Thread(target=go)
        thread.start()
        thread.join()

    experiments.resume(directory, callbacks=[other])
    if not second or not all(isinstance(found, InputError) for found in second):
        return "bad: two at once"
    return "the second was refused" if timeless(directory) == wanted else "bad: another result"


_DEEDS = {"run": _run, "save": _save, "moved": _moved, "two": _two}
