"""Finished episodes as columns of numbers: ``episodes.jsonl`` read fast, followed while it grows, and cached.

Reading millions of JSON lines takes many seconds, so ``episodes.cache`` keeps the numbers as columns. It is only a
copy: it is checked against the lines, extended where it ends, and rebuilt if it is missing or does not match.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.agents.saving import container
from cmerl.errors import InputError
from cmerl.files import open_regular
from cmerl.validation.schema import floats, items, plain, table, text, whole, wholes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BLOCK = 1 << 22  # bytes read at a time
PROBES, PROBE = 256, 1 << 12  # how often and how many bytes to look at to tell whether a cache belongs to a file
NUMBERS = ("return", "length", "regret", "seconds")
KEYS = ("env", "agent", "seed", "episode", *NUMBERS)
TEXT, WHOLE, NUMBER = frozenset[type]([str]), frozenset[type]([int]), frozenset[type]([float, int, type(None)])
TYPES = (TEXT, TEXT, WHOLE, WHOLE, NUMBER, NUMBER, NUMBER, NUMBER)
MOST = 2**63  # seeds and numbers of episodes must fit into 64 bits
FIELDS = itemgetter(*KEYS)
CACHE = table(
    format=whole(1, 10**6),
    offset=whole(0, MOST),
    print=text(),
    skipped=whole(0, MOST),
    envs=items(text(), most=10**6),
    agents=items(text(), most=10**6),
    texts=plain(depth=2, most=10**7),
)


@dataclass
class Names:
    """Texts that repeat, as numbers: the number of a text is its place in ``known``."""

    known: list[str] = field(default_factory=list)

    def codes(self, texts: Sequence[Any]) -> IntArray:
        """The number of each text, new ones added."""
        place = {name: i for i, name in enumerate(self.known)}
        for word in dict.fromkeys(texts):
            if word not in place:
                place[word] = len(self.known)
                self.known.append(word)
        return np.array([place[word] for word in texts], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Columns:
    """Episodes, one row each, in the order in which they were written.

    Attributes:
        envs: names of environments, by number.
        agents: names of agents, by number.
        env: number of each row's environment (n,); likewise ``agent``.
        seed: (n,).
        episode: from 0 (n,).
        values: columns (n,) by name, NaN where a row has none: "return", "length", "regret", "seconds", and a metric
            m as "metrics.m" (parts of lists and dictionaries as "metrics.m.0", "metrics.m.name").
        texts: metrics that are words, by name: the words, whose numbers ``values`` holds.
    """

    envs: list[str]
    agents: list[str]
    env: IntArray
    agent: IntArray
    seed: IntArray
    episode: IntArray
    values: dict[str, FloatArray]
    texts: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.episode)


class EpisodeLog:
    """Reads ``episodes.jsonl`` of a run directory, and again what has been appended since.

    Args:
        directory: of the run; the file need not exist yet.
        cache: whether to begin from ``episodes.cache``.

    Attributes:
        skipped: lines that are not episodes.
        torn: whether the file ends inside a line, as it does when a run is killed while it writes.
    """

    def __init__(self, directory: str | os.PathLike[str], *, cache: bool = True) -> None:
        self.path = Path(directory) / "episodes.jsonl"
        self.cache_path = Path(directory) / "episodes.cache"
        self._clear()
        if cache:
            self._take_up()

    def _clear(self) -> None:
        self._offset = 0
        self.skipped = 0
        self.torn = False
        self._envs, self._agents = Names(), Names()
        self._texts: dict[str, Names] = {}
        self._parts: list[tuple[IntArray, dict[str, FloatArray]]] = []  # keys (n, 4) and columns of each block
        self._print = ""  # of the file as far as it was read

    # --- reading ---

    def update(self) -> bool:
        """Read what is new; whether anything was."""
        try:
            with open_regular(self.path) as file:
                changed = self._check_same(file)
                with _no_garbage_collection():
                    for lines in self._new_lines(file):
                        changed = True
                        self._add(lines)
                if changed:
                    self._print = _fingerprint(file, self._offset)
        except FileNotFoundError:
            changed = bool(self._offset)
            self._clear()
        except OSError as error:
            raise InputError(f"{str(self.path)!r} cannot be read: {error.strerror}") from None
        return changed

    def columns(self) -> Columns:
        """All rows read so far."""
        keys, values = self._merged()
        return Columns(
            self._envs.known,
            self._agents.known,
            keys[:, 0],
            keys[:, 1],
            keys[:, 2],
            keys[:, 3],
            values,
            {name: names.known for name, names in self._texts.items()},
        )

    def _check_same(self, file: Any) -> bool:
        """Start again if the file is not the one read so far, grown; whether it had to."""
        long_enough = os.fstat(file.fileno()).st_size >= self._offset
        if not self._offset or (long_enough and self._print == _fingerprint(file, self._offset)):
            return False
        self._clear()
        return True

    def _new_lines(self, file: Any) -> Iterator[list[bytes]]:
        """Whole lines after the last one read."""
        file.seek(self._offset)
        rest = b""
        while block := file.read(BLOCK):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                self._offset += len(whole) + 1
                yield whole.split(b"\n")
        self.torn = bool(rest.strip())

    def _add(self, lines: list[bytes]) -> None:
        rows = _episodes(_parse(lines))
        self.skipped += sum(map(bool, map(bytes.strip, lines))) - len(rows)
        if not rows:
            return
        env, agent, seed, episode, *numbers = zip(*map(FIELDS, rows), strict=True)
        whole = [np.array(column, dtype=np.int64) for column in (seed, episode)]
        keys = np.column_stack([self._envs.codes(env), self._agents.codes(agent), *whole])
        values = {name: _floats(column) for name, column in zip(NUMBERS, numbers, strict=True)}
        metrics = [row["metrics"] if isinstance(row.get("metrics"), dict) else {} for row in rows]
        for name in dict.fromkeys(name for row in metrics for name in row):
            values.update(self._metric(f"metrics.{name}", [row.get(name) for row in metrics]))
        self._parts.append((keys, values))

    def _metric(self, name: str, entries: list[Any]) -> dict[str, FloatArray]:
        """One metric as one column, or as several where it has parts."""
        kinds = set(map(type, entries)) - {type(None)}
        if kinds <= {float, int, bool}:
            return {name: _floats(entries)}
        if kinds == {str}:
            words = self._texts.setdefault(name, Names())
            present = [i for i, entry in enumerate(entries) if entry is not None]
            column = np.full(len(entries), np.nan)
            column[present] = words.codes([entries[i] for i in present])
            return {name: column}
        if kinds == {list}:
            entries = [None if entry is None else dict(enumerate(entry)) for entry in entries]
        elif kinds != {dict}:
            return {}
        rows = [entry or {} for entry in entries]
        found: dict[str, FloatArray] = {}
        for part in dict.fromkeys(part for row in rows for part in row):
            found.update(self._metric(f"{name}.{part}", [row.get(part) for row in rows]))
        return found

    def _merged(self) -> tuple[IntArray, dict[str, FloatArray]]:
        """All blocks as one, kept as one."""
        if not self._parts:
            return np.empty((0, 4), dtype=np.int64), {name: np.empty(0) for name in NUMBERS}
        if len(self._parts) > 1:
            keys = np.concatenate([part for part, _ in self._parts])
            values = {name: np.full(len(keys), np.nan) for _, part in self._parts for name in part}
            start = 0
            for part_keys, part in self._parts:
                for name, column in part.items():
                    values[name][start : start + len(column)] = column
                start += len(part_keys)
            self._parts = [(keys, values)]
        return self._parts[0]

    # --- the cache ---

    def save(self) -> None:
        """Write the cache; where the directory cannot be written to, there is none."""
        keys, values = self._merged()
        about = {
            "offset": self._offset,
            "print": self._print,
            "skipped": self.skipped,
            "envs": self._envs.known,
            "agents": self._agents.known,
            "texts": {name: names.known for name, names in self._texts.items()},
        }
        with contextlib.suppress(OSError, InputError):
            container.write(self.cache_path, {"keys": keys, **values}, about)

    def _take_up(self) -> None:
        """Begin where the cache ends, if it is whole; ``update`` checks that it belongs to the file."""
        try:
            tensors, about = container.read(self.cache_path)
            offset, fingerprint, skipped = about["offset"], about["print"], about["skipped"]
            envs, agents, texts = about["envs"], about["agents"], about["texts"]
            keys = tensors.pop("keys")
            CACHE(about, "the cache")
            sizes: dict[str, int] = {}
            wholes("n", 4, most=MOST - 1).check(keys, "keys", sizes)
            for name, column in tensors.items():
                floats("n", special=True, least=-1e308, most=1e308).check(column, name, sizes)
            if len(keys) and (keys[:, 0].max() >= len(envs) or keys[:, 1].max() >= len(agents)):
                return
            if not {*NUMBERS} <= tensors.keys():
                return
        except (InputError, KeyError):  # damaged, of another kind, or of another version
            return
        self._offset, self._print, self.skipped = offset, fingerprint, skipped
        self._envs, self._agents = Names(envs), Names(agents)
        self._texts = {name: Names(known) for name, known in texts.items()}
        self._parts = [(keys, tensors)] if len(keys) else []


def read(directory: str | os.PathLike[str]) -> EpisodeLog:
    """A run's episodes, from the cache as far as it goes; what had to be read again is added to it."""
    log = EpisodeLog(directory)
    if log.update():
        log.save()
    return log


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of rows hold no cycles, and looking for some takes longer than reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parse(lines: list[bytes]) -> list[Any]:
    """JSON lines in one call, which is faster; one by one where one of them is broken."""
    try:
        return list(json.loads(b"[" + b",".join(line for line in lines if line.strip()) + b"]"))
    except (ValueError, RecursionError):
        rows = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                rows.append(json.loads(line))
        return rows


def _episodes(rows: list[Any]) -> list[dict[str, Any]]:
    """The rows that are episodes; usually all are, which is seen quickly column by column."""
    try:
        columns = list(zip(*map(FIELDS, rows), strict=True))
        if all(set(map(type, column)) <= types for column, types in zip(columns, TYPES, strict=True)) and all(
            min(column) >= 0 and max(column) < MOST for column in columns[2:4]
        ):
            return rows
    except (KeyError, TypeError, ValueError):
        pass
    return [row for row in rows if _is_episode(row)]


def _is_episode(row: Any) -> bool:
    if not isinstance(row, dict) or not row.keys() >= set(KEYS):
        return False
    entries = FIELDS(row)
    return all(type(entry) in types for entry, types in zip(entries, TYPES, strict=True)) and all(
        0 <= entry < MOST for entry in entries[2:4]
    )


def _floats(entries: Sequence[Any]) -> FloatArray:
    """Numbers as floats, None as NaN."""
    try:
        return np.array(entries, dtype=np.float64)
    except OverflowError:  # whole numbers beyond all floats
        return np.array([np.nan if isinstance(e, int) and abs(e) > 2**1000 else e for e in entries], dtype=np.float64)


def _fingerprint(file: Any, size: int) -> str:
    """Of the first ``size`` bytes: of all of them up to a megabyte, and of probes all over a larger file."""
    whole = size <= PROBES * PROBE
    digest = hashlib.sha256()
    for start in [0] if whole else np.linspace(0, size - PROBE, PROBES).astype(np.int64).tolist():
        file.seek(start)
        digest.update(file.read(size if whole else PROBE))
    return digest.hexdigest()
