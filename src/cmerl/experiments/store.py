"""The run directory: manifest.json, episodes.jsonl, summary.json, and a journal for each unit.

Workers write journals, one per unit. Only the driver writes the other files, all of which can be rebuilt from the
journals and the manifest.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cmerl.errors import InputError
from cmerl.experiments import columns
from cmerl.experiments.engines.base import EpisodeFinished, Event, Task, UnitFailed, UnitFinished
from cmerl.experiments.files import read_json, runs_inside, to_line, whole_lines, write_atomically, write_json
from cmerl.experiments.journal import FileJournal, Tail
from cmerl.experiments.manifest import FORMAT, make_manifest, versions
from cmerl.experiments.packing import unpack
from cmerl.experiments.records import check_manifest, check_records
from cmerl.experiments.spec import Spec, parse
from cmerl.experiments.summary import Totals, summarise
from cmerl.experiments.units import Unit, units_of
from cmerl.files import check_directory, open_inside, read_regular, saying_why, sweep_partial

log = logging.getLogger("cmerl")

REFRESH_SECONDS = 2.0  # how often summary.json follows a run


class RunDirectory:
    """One run on disk."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    # --- files ---

    @property
    def manifest_file(self) -> Path:
        """Everything needed to repeat the run."""
        return self.path / "manifest.json"

    @property
    def episodes_file(self) -> Path:
        """One line per finished episode."""
        return self.path / "episodes.jsonl"

    @property
    def summary_file(self) -> Path:
        """Means and intervals per environment and agent."""
        return self.path / "summary.json"

    def journal_file(self, unit: Unit) -> Path:
        """The journal of a unit."""
        return self.path / "journals" / unit.file

    # --- making and opening ---

    @classmethod
    def create(cls, path: str | os.PathLike[str], spec: Spec, command: str) -> RunDirectory:
        """A new run directory; one that holds a run already is refused."""
        run = cls(path)
        if run.manifest_file.exists():
            raise InputError(
                f"{os.fspath(path)!r} holds a run already: continue it with cmerl resume {path}, "
                "or choose another directory"
            )
        if run.path.exists() and (not run.path.is_dir() or any(p.name[0] != "." for p in run.path.iterdir())):
            raise InputError(f"{os.fspath(path)!r} exists and is not empty: choose another directory")
        try:
            run.path.mkdir(parents=True, exist_ok=True)
            with run.lock():
                write_json(run.manifest_file, make_manifest(spec, command))
        except OSError as error:
            raise InputError(f"{os.fspath(path)!r} cannot be written: {error.strerror}") from None
        return run

    def manifest(self) -> dict[str, Any]:
        """The manifest, or one sentence on why this is not a run."""
        if not self.path.is_dir():
            raise InputError(f"there is no directory {str(self.path)!r}")
        if not self.manifest_file.exists():
            raise InputError(
                f"{str(self.path)!r} is not a run directory: it has no manifest.json{runs_inside(self.path)}"
            )
        manifest = read_json(self.manifest_file)
        if manifest.get("format") != FORMAT or not isinstance(manifest.get("spec"), dict):
            raise InputError(
                f"{self.manifest_file} is damaged or of another version: this version of cmerl reads format {FORMAT}"
            )
        check_manifest(manifest, str(self.manifest_file))
        return manifest

    def spec(self) -> Spec:
        """The spec of the run."""
        return parse(self.manifest()["spec"], str(self.manifest_file))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from running here; the lock ends with this process, however it ends."""
        with saying_why(self.path / ".lock"):
            fd = open_inside(self.path / ".lock", os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.pread(fd, 32, 0).decode(errors="replace").strip() or "another"
                raise InputError(
                    f"{str(self.path)!r} is being run by process {owner}: wait for it, or stop it first"
                ) from None
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
            for path in (self.manifest_file, self.episodes_file, self.summary_file):
                sweep_partial(path)
            yield
        finally:
            os.close(fd)

    def episodes(self) -> list[dict[str, Any]]:
        """All lines of episodes.jsonl that are whole."""
        try:
            return list(whole_lines(read_regular(self.episodes_file)))
        except FileNotFoundError:
            return []

    def lessons(self, unit: Unit) -> list[dict[str, Any]]:
        """The records of a unit's episodes, which ``units.rebuild`` makes the agent from; reads only."""
        return [record for record in self._records(unit, Tail(self.journal_file(unit))()) if "line" in record]

    def _records(self, unit: Unit, payloads: list[bytes]) -> list[dict[str, Any]]:
        """A unit's records after the first, all of them checked."""
        try:
            return check_records(unit, [unpack(payload) for payload in payloads])
        except InputError as error:
            raise InputError(f"{self.journal_file(unit)}: {error}") from None


class Ledger:
    """The driver's side of a run: writes down what happens, and can say how far every unit is.

    Opening it makes episodes.jsonl from the journals: nothing finished is lost, nothing is there twice.
    """

    def __init__(self, run: RunDirectory) -> None:
        self.run = run
        self.spec = run.spec()
        self._warn_of_other_versions()
        self.units = units_of(self.spec)
        self.totals = {unit.key: Totals() for unit in self.units}
        self.reports: dict[tuple[str, str, int], dict[str, Any]] = {}
        self.failures: dict[tuple[str, str, int], UnitFailed] = {}
        with saying_why(run.path / "journals"):
            (run.path / "journals").mkdir(exist_ok=True)
            check_directory(run.path / "journals")
        self.tasks = [task for unit in self.units if (task := self._open(unit)) is not None]
        self._write_episodes()
        with saying_why(run.episodes_file):
            self._file = open_inside(run.episodes_file, os.O_WRONLY | os.O_APPEND)
        self._refresh()

    def _warn_of_other_versions(self) -> None:
        then, now = self.run.manifest().get("versions", {}), versions(self.spec)
        changed = [f"{name} {then[name]} → {now.get(name)}" for name in then if now.get(name) != then[name]]
        if changed:
            log.warning("this run began with other versions (%s): results may differ in bits", ", ".join(changed))

    def _open(self, unit: Unit) -> Task | None:
        """Count what a unit has finished; a task if there is something left to do."""
        path = self.run.journal_file(unit)
        if not os.path.lexists(path):
            return Task(unit, path, 0)
        with saying_why(path), FileJournal(path) as journal:  # reads only: what is torn stays until it is replayed
            payloads, size, cut = journal.records(), journal.size, journal.cut
        records = self.run._records(unit, payloads)
        if cut:
            log.warning(
                "%s: %d bytes after the last whole episode (%d are whole) will be dropped once these were replayed",
                unit.title,
                cut,
                sum("line" in record for record in records),
            )
        for record in records:
            if "line" in record:
                self.totals[unit.key].add(record["line"])
            else:
                self.reports[unit.key] = record["report"]
        return None if unit.key in self.reports else Task(unit, path, size)

    def _write_episodes(self) -> None:
        """Make episodes.jsonl from the journals, unit by unit."""
        lessons = (lesson for unit in self.units for lesson in self.run.lessons(unit))
        write_atomically(self.run.episodes_file, (to_line(lesson["line"]) for lesson in lessons))

    # --- while it runs ---

    def note(self, event: Event) -> None:
        """Write down an event."""
        key = event.unit.key
        match event:
            case EpisodeFinished(line=line):
                self.totals[key].add(line)
                with saying_why(self.run.episodes_file):
                    os.write(self._file, to_line(line))
            case UnitFinished(report=report):
                self.reports[key] = report
            case UnitFailed():
                self.failures[key] = event
        if time.monotonic() - self._refreshed > REFRESH_SECONDS:
            self._refresh()

    def summary(self) -> dict[str, Any]:
        """The contents of summary.json."""
        pairs = [(env.label, agent.label) for env in self.spec.environments for agent in self.spec.agents]
        return {
            "finished": self.finished,
            "units": {"total": len(self.units), "finished": len(self.reports), "failed": len(self.failures)},
            "failures": [
                {
                    **dict(zip(("env", "agent", "seed"), key, strict=True)),
                    "episodes": self.totals[key].episodes,
                    "message": failed.message,
                    "where": failed.where,
                }
                for key, failed in sorted(self.failures.items(), key=lambda item: item[0])
            ],
            "results": [
                summarise(env, agent, [self.totals[env, agent, seed] for seed in self.spec.seed_list])
                for env, agent in pairs
            ],
        }

    @property
    def finished(self) -> bool:
        """True if every unit has played all its episodes."""
        return len(self.reports) == len(self.units)

    def _refresh(self) -> None:
        write_json(self.run.summary_file, self.summary())
        self._refreshed = time.monotonic()

    def close(self) -> None:
        """Finalise the files: once all units are finished, lines are in the order of the spec."""
        os.close(self._file)
        if self.finished:
            self._write_episodes()
            columns.read(self.run.path)  # leaves the cache that makes reports of large runs quick
            jitter = max((float(report.get("jitter") or 0.0) for report in self.reports.values()), default=0.0)
            write_json(self.run.manifest_file, {**self.run.manifest(), "jitter": jitter})
        self._refresh()
