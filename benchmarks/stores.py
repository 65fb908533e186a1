"""Two stores of a run directory against Parquet, Arrow and SQLite: size, speed of writing, appending and reading.

python benchmarks/stores.py [--rows 300000] [--episodes 5000]

Columns: the finished episodes of a run as columns of numbers, from which reports are made (experiments/columns.py).
Journal: one record for each episode, appended as soon as it is played, so that a killed run loses nothing that was
written (experiments/packing.py and journal.py). Every store gives back what it was given; that is checked. Processor
time, the best of three.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cmerl.agents.saving import container
from cmerl.experiments.journal import FileJournal
from cmerl.experiments.packing import pack, unpack

KEYS = ("env", "agent", "seed", "episode")
NUMBERS = ("return", "length", "regret", "seconds", "metrics.value", "metrics.information_gain", "metrics.optimum")
STEPS, WIDTH = 20, 4  # of an episode
Table = dict[str, Any]


def best(action: Callable[[], Any], times: int = 3) -> float:
    """Processor seconds of an action."""
    found = []
    for _ in range(times):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def installed(*names: str) -> float:
    """Megabytes that distributions take, without what they need."""
    files = [file.locate() for name in names for file in distribution(name).files or ()]
    return sum(Path(file).stat().st_size for file in files if Path(file).is_file()) / 1e6


# --- columns ---


def made_up(rows: int) -> Table:
    """Columns as a run of three agents with 100 seeds has them."""
    rng = np.random.default_rng(0)
    number = np.arange(rows)
    keys = [np.zeros(rows, dtype=np.int64), number % 3, number // 3 % 100, number // 300]
    values = [rng.random(rows) for _ in NUMBERS]
    values[1], values[6] = np.full(rows, 20.0), np.full(rows, 3.397)
    return {**dict(zip(KEYS, keys, strict=True)), **dict(zip(NUMBERS, values, strict=True))}


class Ours:
    """One safetensors file with a digest, written whole; what is new is appended to ``episodes.jsonl`` as text."""

    name, needs = "ours: safetensors + SHA-256", ()

    def write(self, path: Path, table: Table) -> None:
        keys = np.column_stack([table[name] for name in KEYS])
        container.write(path, {"keys": keys, **{name: table[name] for name in NUMBERS}}, {})

    def append(self, path: Path, table: Table) -> None:
        with open(path.with_suffix(".jsonl"), "a") as file:
            for row in zip(*(column.tolist() for column in table.values()), strict=True):
                file.write(json.dumps(dict(zip(table, row, strict=True))) + "\n")

    def read(self, path: Path) -> Table:
        tensors, _ = container.read(path)
        keys = tensors.pop("keys")
        return {**{name: keys[:, i] for i, name in enumerate(KEYS)}, **tensors}


class Parquet:
    """One file, written whole; what is new goes into a further file, as Parquet cannot be appended to."""

    name, needs = "Parquet (pyarrow, Snappy)", ("pyarrow",)

    def write(self, path: Path, table: Table) -> None:
        pq.write_table(pa.table(table), path)

    def append(self, path: Path, table: Table) -> None:
        self.write(path.with_suffix(".part"), table)

    def read(self, path: Path) -> Table:
        table = pq.read_table(path)
        return {name: table[name].to_numpy() for name in table.column_names}


class Arrow(Parquet):
    """Arrow's own memory as a file."""

    name = "Arrow IPC (pyarrow)"

    def write(self, path: Path, table: Table) -> None:
        content = pa.table(table)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, content.schema) as writer:
            writer.write_table(content)

    def read(self, path: Path) -> Table:
        with pa.memory_map(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        return {name: table[name].to_numpy() for name in table.column_names}


class SQLite:
    """One table, from Python's standard library."""

    name, needs = "SQLite", ()

    def write(self, path: Path, table: Table) -> None:
        path.unlink(missing_ok=True)
        self.append(path, table)

    def append(self, path: Path, table: Table) -> None:
        names = ", ".join(f'"{name}"' for name in table)
        marks = ", ".join("?" * len(table))
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute(f"CREATE TABLE IF NOT EXISTS episodes ({names})")
            rows = zip(*(column.tolist() for column in table.values()), strict=True)
            database.executemany(f"INSERT INTO episodes VALUES ({marks})", rows)
        database.close()

    def read(self, path: Path) -> Table:
        database = sqlite3.connect(path)
        found = database.execute("SELECT * FROM episodes")
        names = [column[0] for column in found.description]
        columns = dict(zip(names, map(np.array, zip(*found, strict=True)), strict=True))
        database.close()
        return columns


def columns(rows: int, folder: Path) -> None:
    table = made_up(rows)
    new = {name: column[:1000] for name, column in table.items()}
    print(f"columns: {rows:,} rows, {len(table)} columns")
    print(f"{'':<30}{'MB':>8}{'write s':>10}{'read s':>10}{'append 1000 s':>15}{'installs MB':>13}")
    for store in (Ours(), Parquet(), Arrow(), SQLite()):
        path = folder / type(store).__name__
        written = best(partial(store.write, path, table))
        size, back = path.stat().st_size / 1e6, store.read(path)
        assert all(np.array_equal(back[name], column) for name, column in table.items())
        read, appended = best(partial(store.read, path)), best(partial(store.append, path, new))
        print(
            f"{store.name:<30}{size:>8.1f}{written:>10.3f}{read:>10.3f}{appended:>15.4f}"
            f"{installed(*store.needs):>13.0f}"
        )


# --- journal ---


def episode(number: int) -> dict[str, Any]:
    """What a run remembers of an episode."""
    rng = np.random.default_rng(number)
    line = {"env": "plant", "agent": "cme-rl", "seed": 0, "episode": number, "return": rng.random(), "metrics": {}}
    lesson = {
        "observations": list(rng.normal(size=(STEPS + 1, WIDTH))),
        "actions": rng.integers(3, size=STEPS).tolist(),
        "rewards": rng.random(STEPS).tolist(),
        "replans": [],
        "terminated": False,
    }
    return {"line": line, "lesson": lesson}


def journal_ours(path: Path, episodes: list[Any]) -> Callable[[], list[Any]]:
    with FileJournal(path) as journal:
        for each in episodes:
            journal.append(pack(each))

    def read() -> list[Any]:
        with FileJournal(path) as journal:
            return [unpack(record) for record in journal.records()]

    return read


def journal_sqlite(path: Path, episodes: list[Any]) -> Callable[[], list[Any]]:
    """A row for each episode, committed by itself: JSON, and the observations as raw memory."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = OFF")  # a killed process loses nothing; a power cut may
    database.execute("CREATE TABLE episodes (head TEXT, observations BLOB)")
    for each in episodes:
        head = json.dumps({"line": each["line"], "lesson": {**each["lesson"], "observations": None}})
        blob = np.array(each["lesson"]["observations"]).tobytes()
        database.execute("INSERT INTO episodes VALUES (?, ?)", (head, blob))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()

    def read() -> list[Any]:
        again = sqlite3.connect(path)
        found = [with_observations(json.loads(head), blob) for head, blob in again.execute("SELECT * FROM episodes")]
        again.close()
        return found

    return read


def journal_arrow(path: Path, episodes: list[Any]) -> Callable[[], list[Any]]:
    """A stream of record batches, one for each episode."""
    schema = pa.schema({"head": pa.string(), "observations": pa.binary()})
    with open(path, "wb", buffering=0) as file, pa.ipc.new_stream(file, schema) as writer:
        for each in episodes:
            head = json.dumps({"line": each["line"], "lesson": {**each["lesson"], "observations": None}})
            blob = np.array(each["lesson"]["observations"]).tobytes()
            writer.write_batch(pa.record_batch([[head], [blob]], schema=schema))

    def read() -> list[Any]:
        with open(path, "rb") as file:
            rows = [batch.to_pylist()[0] for batch in pa.ipc.open_stream(file)]
        return [with_observations(json.loads(row["head"]), row["observations"]) for row in rows]

    return read


def with_observations(each: Any, blob: bytes) -> Any:
    each["lesson"]["observations"] = list(np.frombuffer(blob).reshape(-1, WIDTH).copy())
    return each


def journal(count: int, folder: Path) -> None:
    episodes = [episode(number) for number in range(count)]
    print(f"\njournal: {count:,} episodes of {STEPS} steps, {WIDTH} numbers each, every one on disk before the next")
    print(f"{'':<30}{'MB':>8}{'append µs each':>16}{'read µs each':>14}")
    stores = {"ours: JSON + raw, SHA-256": journal_ours, "SQLite": journal_sqlite, "Arrow IPC stream": journal_arrow}
    for name, store in stores.items():
        written = []
        for attempt in range(3):
            path = folder / f"{store.__name__}-{attempt}"
            start = time.process_time()
            read = store(path, episodes)
            written.append(time.process_time() - start)
        back = read()
        assert all(pack(a) == pack(b) for a, b in zip(back, episodes, strict=True))
        size = path.stat().st_size / 1e6
        print(f"{name:<30}{size:>8.2f}{1e6 * min(written) / count:>16.1f}{1e6 * best(read) / count:>14.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--episodes", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        columns(given.rows, Path(folder))
        journal(given.episodes, Path(folder))


if __name__ == "__main__":
    main()
