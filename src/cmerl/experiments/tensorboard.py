"""TensorBoard: every number of every episode as a curve, for a whole run or for one agent.

    board = TensorBoard("logs")
    agent.learn(100, callback=board.episode)                      # one agent
    experiments.run(spec, callbacks=[board.event])                # a run: one folder per environment, agent and seed

Files are written by the driver alone and are a view of the run: what counts is in the run directory.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from cmerl.agents.base import Agent, EpisodeRecord
from cmerl.errors import InputError
from cmerl.experiments.engines.base import EpisodeFinished, Event
from cmerl.experiments.results import Results
from cmerl.experiments.store import Ledger

FLUSH_SECONDS = 5

Key = tuple[str, ...]
"""Folders below the directory."""


class TensorBoard:
    """Callbacks that write TensorBoard's event files.

    Args:
        directory: what to give to ``tensorboard --logdir``.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        try:
            from tensorboard.compat.proto.event_pb2 import Event as Message
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise InputError("TensorBoard needs the extra: pip install 'cmerl[tensorboard]'") from None
        self.directory = Path(directory)
        self._message, self._summary, self._writer = Message, Summary, EventFileWriter
        self._writers: dict[Key, Any] = {}
        self._regret: dict[Key, float] = {}
        self._seen: set[Key] = set()

    def episode(self, agent: Agent, record: EpisodeRecord) -> None:
        """For ``learn``: write down an episode of an agent."""
        numbers = {"return": record.ret, "length": record.length, "regret": record.regret, "seconds": record.seconds}
        self._write((agent.name, f"seed-{agent.seed}"), record.episode, numbers, record.metrics)

    def event(self, event: Event, ledger: Ledger) -> None:
        """For ``run`` and ``resume``: write down what happened."""
        key = _folders(event.unit.key)
        if not isinstance(event, EpisodeFinished):
            self._close(key)
            return
        if key not in self._seen and event.line["episode"] > 0:
            before = [line for line in ledger.run.episodes() if _unit(line) == event.unit.key]
            self._begin_again(key, [line for line in before if line["episode"] < event.line["episode"]])
        self._write_line(key, event.line)

    def complete(self, results: Results) -> None:
        """Write the curves of all units of a run that this object has not heard of."""
        for unit in results.units:
            key = _folders(unit.key)
            if key not in self._seen:
                self._begin_again(key, [line for line in results.episodes if _unit(line) == unit.key])
                self._close(key)

    def _begin_again(self, key: Key, lines: Sequence[Mapping[str, Any]]) -> None:
        """Rewrite a unit's episodes: the last ones before a kill may be missing."""
        for old in self.directory.joinpath(*key).glob("events.out.tfevents.*"):
            old.unlink()
        for line in lines:
            self._write_line(key, line)

    def _write_line(self, key: Key, line: Mapping[str, Any]) -> None:
        numbers = {name: line[name] for name in ("return", "length", "regret", "seconds")}
        self._write(key, line["episode"], numbers, line["metrics"])

    def _write(self, key: Key, step: int, numbers: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
        found = {**numbers, **{f"metrics/{name}": value for name, value in metrics.items()}}
        if numbers["regret"] is not None:
            self._regret[key] = self._regret.get(key, 0.0) + numbers["regret"]
            found["cumulative_regret"] = self._regret[key]
        values = [
            self._summary.Value(tag=tag, simple_value=float(value))
            for tag, value in found.items()
            if _is_number(value)
        ]
        message = self._message(wall_time=time.time(), step=step, summary=self._summary(value=values))
        self._seen.add(key)
        if key not in self._writers:
            self._writers[key] = self._writer(str(self.directory.joinpath(*key)), flush_secs=FLUSH_SECONDS)
        self._writers[key].add_event(message)

    def close(self) -> None:
        """Finish all files."""
        for key in list(self._writers):
            self._close(key)

    def _close(self, key: Key) -> None:
        if key in self._writers:
            self._writers.pop(key).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float) and math.isfinite(value)


def _folders(unit: tuple[str, str, int]) -> Key:
    env, agent, seed = unit
    return *(re.sub(r"[^A-Za-z0-9.=,() _-]+", "-", label) for label in (env, agent)), f"seed-{seed}"


def _unit(line: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return line["env"], line["agent"], line["seed"]
