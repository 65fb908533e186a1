"""Run directories from somebody else: damaged, signed anew, full of links, or naming modules and addresses."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import mutations
from rows import Row

from cmerl import experiments
from cmerl.errors import InputError
from cmerl.experiments import engines, journal, packing, runner, store
from cmerl.experiments.engines.base import EpisodeFinished, Event, Task, UnitFailed, UnitFinished
from cmerl.experiments.failures import sentence
from cmerl.experiments.units import play

FILES = ("manifest.json", "episodes.jsonl", "summary.json", "episodes.cache", ".lock", "journals", "run.log")


class InlineEngine:
    """Plays units in this process: an attack has no time for thousands of workers."""

    def run(self, tasks: Sequence[Task]) -> Generator[Event, None, None]:
        for task in tasks:
            tail = journal.Tail(task.journal, task.offset)
            last: Event
            try:
                with journal.FileJournal(task.journal) as file:
                    last = UnitFinished(task.unit, play(task.unit, file))
            except (Exception, SystemExit) as error:
                last = UnitFailed(task.unit, sentence(error))
            for record in map(packing.unpack, tail()):
                if "line" in record:
                    yield EpisodeFinished(task.unit, record["line"])
            yield last


def make(where: Path) -> Path:
    """A small run of two agents."""
    with inline():
        return experiments.run(
            "cmerl/RiverSwim-v0", agents=["psrl", "random"], episodes=4, seeds=2, out=where / "sound"
        ).directory


def inline() -> Any:
    return mock.patch.object(engines, "make", return_value=InlineEngine())


def timeless(directory: Path) -> list[dict[str, Any]]:
    lines = (directory / "episodes.jsonl").read_text().splitlines()
    return [{**json.loads(line), "seconds": 0} for line in lines]


def hurt(directory: Path, outside: Path, rng: random.Random) -> str:
    """Do something to a directory; says what."""
    names = [*FILES, *(f"journals/{path.name}" for path in sorted((directory / "journals").iterdir()))]
    path = directory / rng.choice(names)
    kind = rng.choice(
        ["bytes", "bytes", "journal", "json", "strange", "link", "hard link", "pipe", "folder", "module"]
    )
    if kind == "journal":
        _sign_anew(rng.choice(sorted((directory / "journals").iterdir())), rng)
    elif kind in ("json", "strange", "module"):
        path = directory / rng.choice(["manifest.json", "summary.json"] if kind != "module" else ["manifest.json"])
        tree = json.loads(path.read_text())
        if kind == "module":
            tree["spec"] |= rng.choice(
                [{"allow_env_modules": ["canary"]}, {"engine": "ray", "address": "192.0.2.1:6379"},
                 {"environments": [{"id": "canary:X-v0", "label": "x"}]}]
            )  # fmt: skip
        tree = mutations.damage_tree(tree, rng) if kind == "json" else tree
        path.write_text(mutations.strange_json(rng) if kind == "strange" else json.dumps(tree))
    elif kind == "bytes":
        if path.is_file() and path.stat().st_size:
            path.write_bytes(mutations.damage_bytes(path.read_bytes(), rng))
    else:
        _replace(path, outside, kind)
    return f"{kind} at {path.relative_to(directory)}"


def _replace(path: Path, outside: Path, kind: str) -> None:
    if path.is_dir():
        if kind == "link":
            shutil.rmtree(path)
            path.symlink_to(outside, target_is_directory=True)
        return
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(outside / "victim")
    elif kind == "hard link":
        os.link(outside / "victim", path)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()


def _sign_anew(path: Path, rng: random.Random) -> None:
    """Change a record of a journal so that its checksum is right."""
    records = list(journal.split(path.read_bytes()))
    i = rng.randrange(len(records))
    length = int.from_bytes(records[i][:4], "little")
    tree, blobs = json.loads(records[i][4 : 4 + length]), records[i][4 + length :]
    if rng.random() < 0.8:
        tree = mutations.damage_tree(tree, rng)
    else:
        blobs = mutations.damage_bytes(blobs, rng) if blobs else b"x"
    head = json.dumps(tree).encode()
    records[i] = len(head).to_bytes(4, "little") + head + blobs
    path.write_bytes(b"".join(map(journal.frame, records)))


def attack(count: int, seed: int, where: Path, *, broken: bool = False) -> Row:
    """Read, resume and look into hurt directories. ``broken``: links are followed and modules believed."""
    rng, row = random.Random(seed), Row("run directories")
    logging.getLogger("cmerl").setLevel(logging.CRITICAL)
    sound = make(where)
    wanted = timeless(sound)
    outside = where / "outside"
    outside.mkdir()
    (outside / "victim").write_text("precious\n")
    canary = where / "modules"
    canary.mkdir()
    (canary / "canary.py").write_text(f"open({str(where / 'imported')!r}, 'w').write('')\n")
    with ExitStack() as stack:
        stack.enter_context(inline())
        stack.enter_context(mock.patch.object(sys, "path", [*sys.path, str(canary)]))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if broken:
            plain = lambda path, flags: os.open(path, flags, 0o644)  # noqa: E731
            stack.enter_context(mock.patch.object(store, "open_inside", plain))
            stack.enter_context(mock.patch.object(journal, "open_inside", plain))
            stack.enter_context(mock.patch.object(store, "check_records", lambda unit, records: records[1:]))
            stack.enter_context(mock.patch.object(runner.Consent, "check"))
        for i in range(count):
            directory = where / "hurt"
            shutil.rmtree(directory, ignore_errors=True)
            shutil.copytree(sound, directory)
            if rng.random() < 0.5:  # so that there is something left to play
                first = sorted((directory / "journals").iterdir())[0]
                first.write_bytes(b"".join(map(journal.frame, list(journal.split(first.read_bytes()))[:3])))
            what = f"{hurt(directory, outside, rng)}, directory {i} of seed {seed}"
            row.attempt(
                what, lambda d=directory, w=what: _use(d, wanted if w.startswith("bytes at journals") else None)
            )
            left = sorted(path.name for path in outside.iterdir())
            if left != ["victim"] or (outside / "victim").read_bytes() != b"precious\n":
                row.bad.append(f"{what}: something was written outside")
                shutil.rmtree(outside)
                outside.mkdir()
                (outside / "victim").write_text("precious\n")
            if (where / "imported").exists():
                row.bad.append(f"{what}: a module was imported without consent")
                (where / "imported").unlink()
                sys.modules.pop("canary", None)
    return row


def _use(directory: Path, wanted: list[dict[str, Any]] | None) -> str:
    """Everything that a user may do with a directory; each refusal must be typed, and the rest must work."""
    refused = 0
    for step in (_read, _agents, _resume):
        try:
            step(directory)
        except InputError:
            refused += 1
    if wanted is not None and not refused and timeless(directory) != wanted:
        return "bad: another result than without the damage"
    return "works" if not refused else "refused"


def _read(directory: Path) -> None:
    results = experiments.load(directory)
    _ = results.episodes, results.summary(), repr(results)


def _agents(directory: Path) -> None:
    results = experiments.load(directory)
    for unit in results.units[:2]:
        results.agent(*unit.key)


def _resume(directory: Path) -> None:
    experiments.resume(directory)
