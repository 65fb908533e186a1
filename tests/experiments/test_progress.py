from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from cmerl.experiments.engines import EpisodeFinished, UnitFailed, UnitFinished, UnitStarted
from cmerl.experiments.progress import Bars, columns, line_per_unit, status
from cmerl.experiments.spec import parse
from cmerl.experiments.store import Ledger, RunDirectory

LINE: dict[str, Any] = {
    "return": -123.456,
    "regret": 0.51234,
    "seconds": 0.256,
    "metrics": {"value": -99.123, "uncertainty": 0.123456, "model_error": None, "in_set": True},
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    spec = parse({"environment": "cmerl/RiverSwim-v0", "agent": "random", "seeds": 2, "episodes": 3})
    with closing(Ledger(RunDirectory.create(tmp_path / "run", spec, ""))) as found:
        yield found


def test_a_status_says_what_is_known_and_nothing_else() -> None:
    assert status(LINE, -110.0) == "return -123.5  best -110  expects -99.1  uncertainty 0.123  regret 0.512  0.26 s"
    assert status({**LINE, "regret": None, "metrics": {}}, 1.0) == "return -123.5  best 1  0.26 s"


def test_bars_come_with_units_and_go_with_them(ledger: Ledger) -> None:
    first, second = ledger.units
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    bars = Progress(TextColumn("{task.description} {task.completed}"), console=console, auto_refresh=False)
    show = Bars(bars, ledger)

    def tell(event: Any) -> list[str]:
        ledger.note(event)
        show(event, ledger)
        return [f"{task.description} {task.completed}" for task in bars.tasks]

    assert tell(UnitStarted(first)) == ["all 0", "seed 0 0"]  # one world and one agent need no name
    assert tell(EpisodeFinished(first, LINE)) == ["all 1", "seed 0 1"]
    assert tell(UnitStarted(first)) == ["all 1", "seed 0 1"]  # again, after its worker was killed
    assert tell(UnitStarted(second)) == ["all 1", "seed 0 1", "seed 1 0"]
    assert tell(UnitFinished(first, {})) == ["all 1", "seed 1 0"]
    assert tell(UnitFailed(second, "no [bold]luck")) == ["all 1"]
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert f"{first.title}: 1 episode  mean return -123.5" in shown
    assert f"{second.title}: failed: no [bold]luck" in shown


def test_without_a_terminal_there_is_a_line_for_each_finished_unit(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    unit = ledger.units[0]
    for event in (UnitStarted(unit), EpisodeFinished(unit, LINE), UnitFinished(unit, {})):
        ledger.note(event)
        line_per_unit(event, ledger)
    assert (
        capsys.readouterr().err
        == f"{unit.title}: 1 episode  mean return -123.5  best -123.5  regret 0.5123  0.256 s each\n"
    )


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_bars_fit_the_terminal(ledger: Ledger, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    bars = Progress(*columns(width), console=console, auto_refresh=False, expand=True)
    name = "cmerl/CartPoleSwingUp-v0 · balanced · seed 10"
    bars.add_task(name, total=1000, completed=999, status=status(LINE, -110.0))
    console.print(bars.get_renderable())
    (row,) = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(row) <= width
    assert row.count("━") >= 9
    assert "999/1000" in row
    assert ("return" in row) == (width >= 60)
