"""Sources of logged episodes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gymnasium import spaces

from cmerl.errors import InputError, shown
from cmerl.logs import tables
from cmerl.logs.episodes import LoggedEpisode


@runtime_checkable
class Logged(Protocol):
    """Something that has logged episodes, such as the results of a run."""

    def logged(self) -> Log:
        """Them."""
        ...


@dataclass(frozen=True, eq=False)
class Log:
    """Logged episodes and their source.

    Attributes:
        episodes: the episodes.
        source: description of the source.
    """

    episodes: tuple[LoggedEpisode, ...]
    source: str

    @property
    def transitions(self) -> int:
        """Total number of transitions."""
        return sum(map(len, self.episodes))

    def within(self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> Log:
        """The same log with every value checked against, and converted to, its space."""
        checked = tuple(episode.within(observation_space, action_space) for episode in self.episodes)
        return Log(checked, self.source)

    def provenance(self) -> dict[str, Any]:
        """Source, sizes and checksum, ready for JSON."""
        digest = hashlib.sha256()
        for episode in self.episodes:
            episode.feed(digest)
        about = {"source": self.source, "episodes": len(self.episodes), "transitions": self.transitions}
        return {**about, "sha256": digest.hexdigest()}


def read(source: Any, columns: Mapping[str, tables.Names] | None = None, observed: Sequence[str] = ()) -> Log:
    """Read logged episodes from any supported source.

    Args:
        source: an iterable of episodes, each a mapping with ``observations`` (T + 1), ``actions`` (T), ``rewards``
            (T) and, where the environment ended it for good, ``terminated``; one such mapping; a frame of pandas or
            Polars; the path of a CSV or Parquet file; a Minari data set; the results of a run
            (``cmerl.experiments.load``).
        columns: of a table, which columns hold what: ``observations`` and ``actions`` a name or a list of names;
            ``rewards``, ``terminated``, ``episode``, ``step`` a name; ``next_observations`` a list where every row is
            a whole transition.
        observed: names of an observation's numbers, where ``columns`` does not say which columns hold them.
    """
    if isinstance(source, str | os.PathLike):
        return _from_table(_read_file(source), columns, observed)
    if tables.is_frame(source):
        return _from_table(tables.from_frame(source, "the frame"), columns, observed)
    if columns is not None:
        raise InputError("columns are for tables: a frame, a CSV or a Parquet file")
    if isinstance(source, Log):
        return source
    if isinstance(source, Logged):
        return source.logged()
    name = "episodes"
    if hasattr(source, "iterate_episodes"):  # Minari
        name = f"Minari data set {getattr(getattr(source, 'spec', None), 'dataset_id', '')}".strip()
        source = source.iterate_episodes()
    if isinstance(source, Mapping):
        source = [source]
    if not isinstance(source, Iterable):
        raise InputError(f"episodes must be mappings, a table, a file or a data set, not {shown(source)}")
    found = tuple(LoggedEpisode.of(played, f"episode {i}") for i, played in enumerate(source))
    return _some(found, name)


def _from_table(table: tables.Table, columns: Mapping[str, tables.Names] | None, observed: Sequence[str]) -> Log:
    found = tables.episodes_of(table, columns, observed)
    return _some(tuple(LoggedEpisode.of(played, where) for where, played in found), table.source)


def _some(episodes: tuple[LoggedEpisode, ...], source: str) -> Log:
    if not episodes:
        raise InputError(f"{source}: there are no episodes in it")
    return Log(episodes, source)


def _read_file(path: str | os.PathLike[str]) -> tables.Table:
    file = Path(path)
    if file.is_dir():
        if (file / "manifest.json").exists():
            raise InputError(
                f"{str(file)!r} is the directory of a run: pass its results, "
                f"agent.fit(cmerl.experiments.load({str(file)!r}))"
            )
        raise InputError(
            f"{str(file)!r} is a directory without a run: pass a .csv or .parquet file, or the results of a run, "
            "cmerl.experiments.load(directory)"
        )
    if not file.exists():
        raise InputError(f"there is no file {str(file)!r}")
    if file.suffix.lower() in (".parquet", ".pq"):
        return tables.from_parquet(file)
    if file.suffix.lower() == ".csv":
        return tables.from_csv(file)
    raise InputError(f"{str(file)!r}: logs are read from .csv and .parquet files")
