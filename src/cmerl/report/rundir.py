"""Reading a run directory for reports: episodes as arrays, the manifest, and problems in words."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.experiments import columns
from cmerl.experiments.columns import Columns, EpisodeLog
from cmerl.experiments.files import runs_inside

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FILES = ("manifest.json", "episodes.jsonl", "summary.json")


@dataclass(frozen=True, eq=False)
class Runs:
    """One agent in one environment.

    Attributes:
        env: its name.
        agent: its name.
        seeds: (S,), sorted.
        values: each column (S, E), seeds by episodes, NaN where there is nothing.
        texts: the words behind the numbers of a column, where it has words.
    """

    env: str
    agent: str
    seeds: IntArray
    values: dict[str, FloatArray]
    texts: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def lengths(self) -> IntArray:
        """Episodes that each seed has finished (S,)."""
        have = ~np.isnan(self.values["return"])
        return np.asarray(np.where(have.all(axis=1), have.shape[1], np.argmin(have, axis=1)), dtype=np.int64)

    @cached_property
    def even(self) -> tuple[NDArray[np.intp], int]:
        """The seeds and the number of episodes to compare over, when seeds are not equally far.

        Of all rectangles of seeds by episodes that are finished, the largest: a seed that has just begun does not cut
        the others short, and two that go side by side both count.
        """
        order = np.argsort(-self.lengths, kind="stable")
        areas = self.lengths[order] * np.arange(1, len(order) + 1)
        count = int(len(areas) - 1 - np.argmax(areas[::-1])) + 1
        return np.sort(order[:count]), int(self.lengths[order[count - 1]])

    def get(self, name: str) -> FloatArray | None:
        """A column over ``even`` seeds and episodes, or None where nothing was recorded."""
        if name not in self.values:
            return None
        rows, episodes = self.even
        values = self.values[name][rows, :episodes]
        return None if np.isnan(values).all() else values

    @property
    def episodes(self) -> int:
        """Episodes finished by all seeds together."""
        return int(self.lengths.sum())


@dataclass(frozen=True, eq=False)
class RunDirectory:
    """A run directory as far as it can be read.

    Attributes:
        path: where it is.
        runs: one for each environment and agent, in order of first appearance.
        manifest: as written, or {}.
        summary: as written, or None while the run goes on.
        problems: sentences on what is missing or broken.
    """

    path: Path
    runs: tuple[Runs, ...]
    manifest: dict[str, Any]
    summary: Any | None
    problems: tuple[str, ...]

    @property
    def envs(self) -> list[str]:
        """Names of environments."""
        return list(dict.fromkeys(runs.env for runs in self.runs))

    @property
    def agents(self) -> list[str]:
        """Names of agents."""
        return list(dict.fromkeys(runs.agent for runs in self.runs))

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Units that failed, as the summary names them; what is no failure is left out."""
        found = self.summary.get("failures") if isinstance(self.summary, dict) else None
        names = ("env", "agent", "seed", "message")
        return [f for f in found or [] if isinstance(f, dict) and all(name in f for name in names)]

    def failed(self, env: str, agent: str) -> int:
        """Number of failed runs of an agent."""
        return sum(f["env"] == env and f["agent"] == agent for f in self.failures)

    @property
    def planned_episodes(self) -> int | None:
        """Episodes that each run was to have, if the manifest says."""
        spec = self.manifest.get("spec")
        episodes = spec.get("episodes") if isinstance(spec, dict) else None
        return episodes if type(episodes) is int else None

    def of(self, env: str) -> list[Runs]:
        """The runs in one environment."""
        return [runs for runs in self.runs if runs.env == env]


def read(directory: str | os.PathLike[str]) -> RunDirectory:
    """Read a run directory, whole or partial; raises InputError for what is none."""
    path = check(directory)
    return assemble(path, columns.read(path))


def check(directory: str | os.PathLike[str]) -> Path:
    """The path of a directory that holds a run, or one sentence on why it does not."""
    path = Path(directory)
    if not path.exists():
        raise InputError(f"there is no directory {os.fspath(directory)!r}: cmerl run … --out DIR makes one")
    if not path.is_dir():
        raise InputError(f"{os.fspath(directory)!r} is a file; give the directory that cmerl run wrote")
    if not any((path / name).exists() for name in FILES):
        content = "is empty" if not any(path.iterdir()) else f"holds none of {', '.join(FILES)}"
        raise InputError(f"{os.fspath(directory)!r} is not a run directory: it {content}{runs_inside(path)}")
    return path


def assemble(path: Path, log: EpisodeLog) -> RunDirectory:
    """A run directory from its episodes, read already, and the two small files."""
    problems: list[str] = []
    manifest = _json(path / "manifest.json", problems)
    if manifest is not None and not isinstance(manifest, dict):
        problems.append("manifest.json does not hold a JSON object: how the run was made is not known.")
        manifest = None
    elif manifest is None and not problems:
        problems.append("manifest.json is missing: how the run was made is not known.")
    summary = _json(path / "summary.json", problems)
    if log.skipped:
        lines = (
            "1 line of episodes.jsonl is not an episode and was"
            if log.skipped == 1
            else (f"{log.skipped} lines of episodes.jsonl are not episodes and were")
        )
        problems.append(f"{lines} left out.")
    if log.torn:
        problems.append("The last line of episodes.jsonl is unfinished; cmerl resume repairs it.")
    runs = split(log.columns())
    if not runs:
        problems.append("There are no finished episodes yet.")
    return RunDirectory(path, runs, manifest or {}, summary, tuple(problems))


def split(table: Columns) -> tuple[Runs, ...]:
    """Rows as one array per column for each environment and agent."""
    found = []
    pairs = table.env * len(table.agents) + table.agent
    for pair in dict.fromkeys(pairs[np.sort(np.unique(pairs, return_index=True)[1])].tolist()):
        rows = np.flatnonzero(pairs == pair)
        seeds, place, counts = np.unique(table.seed[rows], return_inverse=True, return_counts=True)
        episode = table.episode[rows]
        sound = episode < counts[place]  # a unit writes its episodes in order, so a greater number is no such line's
        rows, place, episode = rows[sound], place[sound], episode[sound]
        if not len(rows):
            continue
        values = {}
        for name, column in table.values.items():
            if name.startswith("metrics.") and np.isnan(column[rows]).all():
                continue
            values[name] = np.full((len(seeds), int(episode.max()) + 1), np.nan)
            values[name][place, episode] = column[rows]  # of an episode that was redone the last counts
        env, agent = divmod(pair, len(table.agents))
        runs = Runs(table.envs[env], table.agents[agent], seeds, values, table.texts)
        if runs.episodes:
            found.append(runs)
    return tuple(found)


def _json(path: Path, problems: list[str]) -> Any | None:
    """A small JSON file, or None; says if it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        problems.append(f"{path.name} cannot be read as JSON and was left out.")
        return None
