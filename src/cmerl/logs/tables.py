"""Episodes from a table with one row per step: a pandas or Polars frame, a CSV or a Parquet file."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError, shown
from cmerl.files import open_regular, saying_why

Names = str | Sequence[str]
KEYS = ("observations", "actions", "rewards", "next_observations", "terminated", "episode", "step")
DEFAULTS = {
    "actions": "action",
    "rewards": "reward",
    "terminated": "terminated",
    "episode": "episode",
    "step": "step",
}
OPTIONAL = ("next_observations", "terminated", "episode", "step")


@dataclass(frozen=True)
class Table:
    """Columns by name, in the order of the rows.

    Attributes:
        columns: each (n,).
        source: what messages call it.
        first: the number of the first row, as its reader would count.
    """

    columns: Mapping[str, NDArray[Any]]
    source: str
    first: int = 0

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise InputError(f"{self.source} has no column {name!r}: it has {', '.join(self.columns)}")
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as numbers, NaN where nothing was entered."""
        try:
            return np.array([np.nan if _blank(x) else float(x) for x in self[name]])
        except (TypeError, ValueError):
            row = next(i for i, x in enumerate(self[name]) if not _is_number(x))
            raise InputError(
                f"{self.source}, row {row + self.first}: {name} is {shown(self[name][row])}, not a number"
            ) from None

    def flags(self, name: str) -> NDArray[np.bool_]:
        """A column as True or False; an empty cell is False."""
        words = {"true": True, "false": False, "": False, "nan": False, "none": False, "1": True, "0": False}
        words |= {"1.0": True, "0.0": False}
        found = []
        for row, cell in enumerate(self[name]):
            word = words.get(str(cell).strip().lower())
            if word is None:
                raise InputError(
                    f"{self.source}, row {row + self.first}: {name} is {shown(cell)}, neither True nor False"
                )
            found.append(word)
        return np.array(found, dtype=bool)


def is_frame(source: Any) -> bool:
    """Whether this is a frame of pandas or Polars."""
    return hasattr(source, "columns") and hasattr(source, "shape") and hasattr(source, "__getitem__")


def from_frame(frame: Any, source: str) -> Table:
    """The columns of a frame."""
    names = _once([str(name) for name in frame.columns], source)
    return Table(
        {name: np.asarray(frame[given].to_numpy()) for name, given in zip(names, frame.columns, strict=True)}, source
    )


def _once(names: list[str], source: str) -> list[str]:
    """Names of columns; a name that is there twice is an error."""
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise InputError(f"{source} has two columns {twice!r}: rename one of them")
    return names


def from_csv(path: str | os.PathLike[str]) -> Table:
    """The columns of a CSV file with a head; rows are counted as an editor does, the head is row 1."""
    with saying_why(path), open_regular(path, follow=True) as file:
        try:
            lines = list(csv.reader(file.read().decode("utf-8-sig").splitlines()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{os.fspath(path)!r} is not a CSV file: {error}") from None
    if len(lines) < 2:
        raise InputError(f"{os.fspath(path)!r} has no rows below its head")
    head = _once([name.strip() for name in lines[0]], Path(path).name)
    if len(head) == 1 and ";" in head[0]:
        raise InputError(
            f"{os.fspath(path)!r} separates its cells by ';': save it with commas, or pass a pandas frame"
        )
    rows = [line for line in lines[1:] if line]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise InputError(f"{os.fspath(path)!r}, row {number} has {len(row)} cells, its head {len(head)}")
    columns = {name: np.array([row[i] for row in rows], dtype=object) for i, name in enumerate(head)}
    return Table(columns, Path(path).name, first=2)


def from_parquet(path: str | os.PathLike[str]) -> Table:
    """The columns of a Parquet file."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError("Parquet files need pyarrow: pip install 'cmerl[logs]'") from None
    with saying_why(path):
        try:
            found = parquet.read_table(os.fspath(path))
        except arrow.ArrowInvalid as error:
            raise InputError(f"{os.fspath(path)!r} is not a Parquet file: {str(error).splitlines()[0]}") from None
    columns = {name: np.array(found[name].to_pylist(), dtype=object) for name in found.column_names}
    return Table(columns, Path(path).name)


def episodes_of(
    table: Table, names: Mapping[str, Names] | None, observed: Sequence[str] = ()
) -> list[tuple[str, dict[str, Any]]]:
    """Episodes as mappings, each with what messages call it; rows that repeat or are missing are errors.

    Args:
        table: its rows are steps, those of an episode one after the other.
        names: which columns hold what. With ``next_observations`` every row is a whole transition; without, the next
            row says where an action led, and the last row of an episode only where it ended.
        observed: the environment's names of an observation's numbers, for a table that has them too.
    """
    names = _checked(table, {} if names is None else names, observed)
    if not len(next(iter(table.columns.values()))):
        return []
    order = [_as_list(names["observations"]), _as_list(names["actions"])]
    observations, actions = (np.stack([table.numbers(n) for n in listed], axis=1) for listed in order)
    rewards = table.numbers(str(names["rewards"]))
    ended = table.flags(str(names["terminated"])) if "terminated" in names else np.zeros(len(rewards), dtype=bool)
    following = None
    if "next_observations" in names:
        following = np.stack([table.numbers(n) for n in _as_list(names["next_observations"])], axis=1)
    found = []
    for label, rows in _split(table, names):
        where = f"{table.source}, episode {label}"
        _check_steps(table, names, rows, where)
        used = rows if following is not None else rows[:-1]
        if not len(used):
            raise InputError(f"{where} has one row: a step needs the row after it too, or next_observations")
        if following is not None:
            _check_gaps(observations, following, rows, table, where)
            seen = np.vstack([observations[rows], following[rows[-1:]]])
        else:
            seen = observations[rows]
        flags = ended[used].copy()
        flags[-1] |= ended[rows[-1]]
        played = {"observations": seen, "actions": actions[used], "rewards": rewards[used], "terminated": flags}
        _check_cells(played, used, names, table, where)
        found.append((where, played))
    return found


def _checked(table: Table, names: Mapping[str, Names], observed: Sequence[str]) -> dict[str, Names]:
    if not isinstance(names, Mapping):
        raise InputError(f"columns must map {', '.join(KEYS)} to names of columns, not {shown(names)}")
    unknown = [key for key in names if key not in KEYS]
    if unknown:
        raise InputError(f"columns has no entry {unknown[0]!r}: it maps {', '.join(KEYS)} to names of columns")
    found: dict[str, Names] = {key: name for key, name in DEFAULTS.items() if name in table.columns}
    if "observations" not in names:
        for key, listed in (("observations", observed), ("next_observations", [f"next_{name}" for name in observed])):
            if listed and all(name in table.columns for name in listed):
                found[key] = list(listed)
    found |= names
    for key in KEYS:
        if key not in found and key not in OPTIONAL:
            if key == "observations" and any(name in table.columns for name in observed):
                _ = [table[name] for name in observed]  # names the one that is missing
            example = "['x', 'v']" if key == "observations" else f"{DEFAULTS[key]!r}"
            raise InputError(
                f"{table.source}: which column holds {key}? Say it with columns={{{key!r}: {example}}}; "
                f"it has {', '.join(table.columns)}"
            )
    for name in [n for listed in found.values() for n in _as_list(listed)]:
        _ = table[name]
    return found


def _as_list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _split(table: Table, names: Mapping[str, Names]) -> list[tuple[str, NDArray[np.intp]]]:
    """Rows of each episode, in their order; an episode whose rows are not together is an error."""
    n = len(next(iter(table.columns.values())))
    if "episode" not in names:
        return [("0", np.arange(n))]
    labels = [str(x) for x in table[str(names["episode"])]]
    starts = [i for i in range(n) if i == 0 or labels[i] != labels[i - 1]]
    seen: set[str] = set()
    for i in starts:
        if labels[i] in seen:
            raise InputError(
                f"{table.source}, row {i + table.first}: episode {labels[i]} goes on after another one began: "
                "sort the rows by episode and step"
            )
        seen.add(labels[i])
    return [(labels[a], np.arange(a, b)) for a, b in zip(starts, [*starts[1:], n], strict=True)]


def _check_steps(table: Table, names: Mapping[str, Names], rows: NDArray[np.intp], where: str) -> None:
    """Steps must follow one another by 1."""
    if "step" not in names:
        return
    steps = table.numbers(str(names["step"]))[rows]
    for row, (before, now) in zip(rows[1:], itertools.pairwise(steps), strict=True):
        if now == before:
            raise InputError(f"{where}: step {now:g} is there twice (row {row + table.first}): drop one of the rows")
        if now != before + 1:
            raise InputError(
                f"{where}: after step {before:g} comes step {now:g} (row {row + table.first}): split the episode at "
                "the gap, or fill it"
            )


def _check_gaps(
    observations: NDArray[np.float64],
    following: NDArray[np.float64],
    rows: NDArray[np.intp],
    table: Table,
    where: str,
) -> None:
    """Each row must begin where the one before it led."""
    for before, now in itertools.pairwise(rows):
        if np.allclose(observations[now], following[before], rtol=1e-6, atol=1e-9):
            continue
        same = np.array_equal(observations[now], observations[before]) and np.array_equal(
            following[now], following[before]
        )
        what = f"repeats row {before + table.first}" if same else "does not begin where the row before it led"
        raise InputError(f"{where}: row {now + table.first} {what}: drop it, or split the episode there")


def _check_cells(
    played: dict[str, Any], rows: NDArray[np.intp], names: Mapping[str, Names], table: Table, where: str
) -> None:
    """Empty cells are named by column and row."""
    for key in ("observations", "actions", "rewards"):
        values = played[key].reshape(len(played[key]), -1)
        bad = np.argwhere(np.isnan(values))
        if len(bad):
            step, column = (int(i) for i in bad[0])
            row = (rows[step] if step < len(rows) else rows[-1] + 1) + table.first
            raise InputError(f"{where}: column {_as_list(names[key])[column]!r} is empty in row {row}")


def _blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_number(cell: Any) -> bool:
    try:
        return _blank(cell) or isinstance(float(cell), float)
    except (TypeError, ValueError):
        return False
