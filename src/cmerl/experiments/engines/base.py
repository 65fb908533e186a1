"""The protocol of engines, which play units and report events."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cmerl.experiments.units import Unit


@dataclass(frozen=True)
class Task:
    """A unit to play and the journal file, which the driver can write, that it continues from.

    Attributes:
        unit: what to play.
        journal: its file; it may hold the first episodes already.
        offset: its size when the run began: what comes after it is news.
    """

    unit: Unit
    journal: Path
    offset: int


@dataclass(frozen=True)
class UnitStarted:
    """A worker has taken up a unit, perhaps not for the first time; an engine need not tell."""

    unit: Unit


@dataclass(frozen=True)
class EpisodeFinished:
    """An episode is in the unit's journal; ``line`` is what episodes.jsonl says of it."""

    unit: Unit
    line: dict[str, Any]


@dataclass(frozen=True)
class UnitFinished:
    """All episodes of a unit are in its journal; ``report`` is what its worker had to say at the end."""

    unit: Unit
    report: dict[str, Any]


@dataclass(frozen=True)
class UnitFailed:
    """A unit cannot go on; the others do.

    Attributes:
        unit: which.
        message: why, in a sentence.
        where: the line of the user's code that raised, or "".
    """

    unit: Unit
    message: str
    where: str = ""


Event = UnitStarted | EpisodeFinished | UnitFinished | UnitFailed


class Engine(Protocol):
    """Plays tasks on one machine or on many.

    Whatever the engine, a unit is played by ``units.play`` with a journal, so that the same bytes come out.
    """

    def run(self, tasks: Sequence[Task]) -> Generator[Event, None, None]:
        """Play all tasks and yield what happens, every episode and every unit once, each unit's episodes in order.

        Closing the generator ends all workers at once; what is in the journals by then is kept.
        """
        ...
