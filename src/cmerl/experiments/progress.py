"""Progress: bars on a terminal, one per running unit and one for the whole; elsewhere a line per finished unit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cmerl.experiments.engines.base import EpisodeFinished, Event, UnitFailed, UnitFinished, UnitStarted
from cmerl.experiments.store import Ledger
from cmerl.experiments.units import Unit

Show = Callable[[Event, Ledger], None]

# What the status says of an episode beyond its return, where its agent knows it: (metric, words).
SHOWN = (("value", "expects"), ("uncertainty", "uncertainty"), ("model_error", "model error"))


@contextmanager
def shown(ledger: Ledger) -> Iterator[Show]:
    """A callback that shows how a run goes on."""
    from rich.console import Console

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield line_per_unit
        return
    from rich.progress import Progress

    with Progress(*columns(console.width), console=console, speed_estimate_period=600, expand=True) as bars:
        yield Bars(bars, ledger)


def columns(width: int) -> tuple[Any, ...]:
    """The columns of the progress bar, as many as fit into the terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.table import Column

    name = Column(no_wrap=True, overflow="ellipsis", min_width=8, max_width=max(width // 3, 12))
    bar = 20 if width >= 100 else 10
    found = (
        TextColumn("{task.description}", table_column=name),
        BarColumn(bar_width=bar, table_column=Column(no_wrap=True, min_width=bar)),
        MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=7)),
    )
    if width < 60:
        return found
    status = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    left = TimeRemainingColumn(compact=width < 100, table_column=Column(no_wrap=True, min_width=5))
    return (*found, left, TextColumn("{task.fields[status]}", table_column=status))


def status(line: dict[str, Any], best: float) -> str:
    """The status of a unit in the progress bar."""
    words = [f"return {line['return']:.4g}", f"best {best:.4g}"]
    words += [f"{word} {line['metrics'][key]:.3g}" for key, word in SHOWN if _is_number(line["metrics"].get(key))]
    if line["regret"] is not None:
        words.append(f"regret {line['regret']:.3g}")
    return "  ".join([*words, f"{line['seconds']:.2f} s"])


class Bars:
    """A bar for each running unit, below one for the whole if there are several."""

    def __init__(self, bars: Any, ledger: Ledger) -> None:
        self._bars = bars
        self._units: dict[tuple[str, str, int], Any] = {}
        done = sum(totals.episodes for totals in ledger.totals.values())
        total = ledger.spec.episodes * len(ledger.units)
        several = len(ledger.units) > 1
        self._worlds = len(ledger.spec.environments) > 1
        self._players = len(ledger.spec.agents) > 1
        self._whole = bars.add_task("all", total=total, completed=done, visible=several, status="")

    def __call__(self, event: Event, ledger: Ledger) -> None:
        """Show one event."""
        key, totals = event.unit.key, ledger.totals[event.unit.key]
        match event:
            case UnitStarted(unit=unit) if key not in self._units:
                self._units[key] = self._bars.add_task(
                    self._name(unit), total=unit.episodes, completed=totals.episodes, status=""
                )
            case EpisodeFinished(line=line):
                self._bars.update(self._whole, advance=1)
                if key in self._units:
                    self._bars.update(self._units[key], advance=1, status=status(line, totals.best))
            case UnitFinished():
                self._end(key, _finished(event, ledger))
            case UnitFailed(unit=unit, message=message):
                self._end(key, f"{unit.title}: failed: {message}")
        ended = len(ledger.reports) + len(ledger.failures)
        self._bars.update(self._whole, status=f"{ended} of {len(ledger.units)} runs done")

    def _name(self, unit: Unit) -> str:
        """A short distinguishing name of a unit."""
        parts = [unit.env.label] * self._worlds + [unit.agent.label] * self._players
        return " · ".join([*parts, f"seed {unit.seed}"])

    def _end(self, key: tuple[str, str, int], words: str) -> None:
        if key in self._units:
            self._bars.remove_task(self._units.pop(key))
        self._bars.console.print(words, markup=False, highlight=False)


def line_per_unit(event: Event, ledger: Ledger) -> None:
    """Print a line for every unit that has finished."""
    if isinstance(event, UnitFinished):
        print(_finished(event, ledger), file=sys.stderr, flush=True)


def _finished(event: Event, ledger: Ledger) -> str:
    totals = ledger.totals[event.unit.key]
    regret = "" if totals.regret is None else f"  regret {totals.regret:.4g}"
    played = f"{totals.episodes} episode{'s' * (totals.episodes != 1)}"
    return (
        f"{event.unit.title}: {played}  mean return {totals.ret / totals.episodes:.4g}  "
        f"best {totals.best:.4g}{regret}  {totals.seconds / totals.episodes:.3g} s each"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
