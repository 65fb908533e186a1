"""The records of all episodes of an agent, stored as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, overload

from cmerl.agents.records import EpisodeRecord


class Layout(NamedTuple):
    """What records have in common whose numbers alone differ."""

    regret_kind: str | None
    has_regret: bool
    metrics: tuple[tuple[str, type], ...]


class History(Sequence[EpisodeRecord]):
    """A list of records that takes a hundred bytes for each: their numbers, and once what they have in common.

    >>> history = History()
    >>> history.append(EpisodeRecord(0, 1.5, 20, None, None, 0.1, {"value": 3.0}))
    >>> history[-1].metrics, len(history), history == [history[0]]
    ({'value': 3.0}, 1, True)

    Args:
        records: to begin with.
    """

    def __init__(self, records: Iterable[EpisodeRecord] = ()) -> None:
        self._numbers = array("d")  # of all records, one after the other
        self._layout = array("L")  # of each record, among ``_layouts``
        self._ends = array("Q")  # of each record's numbers; its length is that of the history
        self._layouts: dict[Layout, int] = {}
        self._unpacked: dict[int, EpisodeRecord] = {}  # those that are more than numbers
        for record in records:
            self.append(record)

    def append(self, record: EpisodeRecord) -> None:
        """One more record; an interrupt leaves the history without it, and usable."""
        index, start = len(self), self._start(len(self))
        del self._numbers[start:], self._layout[index:]
        layout = _layout(record) if record.episode == index else None
        if layout is None:
            self._unpacked[index] = record
        else:
            regret = () if record.regret is None else (record.regret,)
            values = (value for value in record.metrics.values() if value is not None)
            self._numbers.extend((record.ret, record.length, record.seconds, *regret, *values))
            self._unpacked.pop(index, None)
        self._layout.append(self._layouts.setdefault(layout, len(self._layouts)) if layout else 0)
        self._ends.append(len(self._numbers))

    @overload
    def __getitem__(self, index: int) -> EpisodeRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[EpisodeRecord]: ...
    def __getitem__(self, index: int | slice) -> EpisodeRecord | list[EpisodeRecord]:
        layouts = list(self._layouts)
        if isinstance(index, slice):
            return [self._record(i, layouts) for i in range(len(self))[index]]
        try:
            return self._record(range(len(self))[index], layouts)
        except IndexError:
            raise IndexError(f"there is no episode {index} among {len(self)}") from None

    def __iter__(self) -> Any:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self._ends)

    def __eq__(self, other: object) -> bool:
        return self[:] == other[:] if isinstance(other, History | list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self[:])

    def returns(self) -> list[float]:
        """The returns alone, which is faster than to ask each record."""
        starts = (self._start(i) for i in range(len(self)))
        return [
            self._unpacked[i].ret if i in self._unpacked else self._numbers[start] for i, start in enumerate(starts)
        ]

    def _start(self, index: int) -> int:
        return self._ends[index - 1] if index else 0

    def _record(self, index: int, layouts: list[Layout]) -> EpisodeRecord:
        if index in self._unpacked:
            return self._unpacked[index]
        layout = layouts[self._layout[index]]
        numbers = iter(self._numbers[self._start(index) : self._ends[index]])
        ret, length, seconds = next(numbers), int(next(numbers)), next(numbers)
        regret = next(numbers) if layout.has_regret else None
        metrics = {name: None if kind is type(None) else kind(next(numbers)) for name, kind in layout.metrics}
        return EpisodeRecord(index, ret, length, regret, layout.regret_kind, seconds, metrics)


def _layout(record: EpisodeRecord) -> Layout | None:
    """The layout of a record whose values are plain numbers, that come back as they were; else None."""
    values = (record.ret, record.seconds, 0.0 if record.regret is None else record.regret)
    if any(type(value) is not float for value in values) or not all(map(_plain, record.metrics.values())):
        return None
    kinds = tuple((name, type(value)) for name, value in record.metrics.items())
    return Layout(record.regret_kind, record.regret is not None, kinds)


def _plain(value: Any) -> bool:
    """Whether a float can hold it."""
    if type(value) is int:
        return -(2**53) <= value <= 2**53
    return value is None or type(value) in (float, bool)
