"""A run at the terminal: signals, log, progress bars and summary."""

from __future__ import annotations

import logging
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cmerl.cli import FAILED_UNIT, INTERRUPTED, TERMINATED
from cmerl.experiments.failures import resuming, told, what_now
from cmerl.experiments.results import Results
from cmerl.experiments.runner import resume

if TYPE_CHECKING:
    from cmerl.experiments.tensorboard import TensorBoard


class _Terminated(KeyboardInterrupt):
    """Someone asked this process to end."""


def session(
    directory: Path,
    log_level: str,
    jobs: int | None = None,
    board: TensorBoard | None = None,
    *,
    address: str | None = None,
    modules: Sequence[str] = (),
) -> int:
    """Play what is left of a run; the exit code. ``address`` and ``modules`` are what the user has agreed to."""
    _set_up_log(log_level)
    options: dict[str, Any] = {"jobs": jobs, "address": address, "allow_env_modules": modules}
    try:
        with _terminate_like_interrupt():
            results = _play(directory, board, options)
    except KeyboardInterrupt as interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the workers are gone: what is left takes no time
        typer.echo(f"stopped; go on with: {resuming(directory, modules, address)}", err=True)
        return TERMINATED if isinstance(interrupt, _Terminated) else INTERRUPTED
    summary = results.summary()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    typer.echo(table(summary, width, results.spec.episodes))
    if note := few_seeds(summary):
        typer.echo(note)
    failures = results.failures
    for words, where in told(failures):
        typer.echo(f"cmerl: {words}" + (f"\n       at {where}" if where else ""), err=True)
    if failures:
        typer.echo(f"cmerl: {what_now(len(failures), len(results.units), directory, modules)}", err=True)
    typer.echo(f"results in {directory}")
    return FAILED_UNIT if failures else 0


def _play(directory: Path, board: TensorBoard | None, options: dict[str, Any]) -> Results:
    if board is None:
        return resume(directory, progress=True, **options)
    with board:
        results = resume(directory, progress=True, callbacks=[board.event], **options)
        board.complete(results)
    return results


def board_of(directory: Path, wanted: bool) -> TensorBoard | None:
    """Where ``--tensorboard`` writes to; without the extra it says so before anything is run."""
    if not wanted:
        return None
    from cmerl.experiments.tensorboard import TensorBoard

    return TensorBoard(directory / "tensorboard")


HEAD = ("environment", "agent", "seeds", "episodes", "mean return", "cumulative regret", "s / episode")
FEWEST = 6  # seeds for which a bootstrap interval is worth its name


def table(summary: dict[str, Any], width: int | None = None, planned: int | None = None) -> str:
    """The summary for people: a row for each environment and agent, or a few lines where rows are too wide.

    Args:
        summary: of a run.
        width: of the terminal, if there is one.
        planned: episodes that each unit was to have; fewer are shown as so many of them.
    """
    rows = [
        (
            row["env"],
            row["agent"],
            str(row["seeds"]),
            str(row["episodes"]) + (f" of {planned}" if planned is not None and row["episodes"] < planned else ""),
            _estimate(row["return"]),
            _estimate(row["cumulative_regret"]),
            "–" if row["seconds_per_episode"] is None else f"{row['seconds_per_episode']:.3g}",
        )
        for row in summary["results"]
    ]
    widths = [max(len(row[i]) for row in (HEAD, *rows)) for i in range(len(HEAD))]
    if width is not None and sum(widths) + 2 * (len(HEAD) - 1) > width:
        return "\n".join(_in_lines(row) for row in rows)
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in (HEAD, *rows)
    )


def _in_lines(row: Sequence[str]) -> str:
    """A row for a narrow terminal; what is not known is left out."""
    cells = [f"  {name:<17}  {cell}" for name, cell in zip(HEAD[2:], row[2:], strict=True) if cell != "–"]
    return "\n".join([f"{row[0]} · {row[1]}", *cells])


def few_seeds(summary: dict[str, Any]) -> str:
    """What to think of intervals from few seeds."""
    seeds = [row["seeds"] for row in summary["results"] if row["return"] is not None]
    if not seeds or not 1 < min(seeds) < FEWEST:
        return ""
    return f"intervals of fewer than {FEWEST} seeds are too narrow: --seeds 8 gives better ones"


def _estimate(estimate: dict[str, Any] | None) -> str:
    if estimate is None:
        return "–"
    if estimate["low"] is None:
        return f"{estimate['mean']:.4g}"
    return f"{estimate['mean']:.4g} [{estimate['low']:.4g}, {estimate['high']:.4g}]"


def _set_up_log(level: str) -> None:
    log = logging.getLogger("cmerl")
    log.setLevel(level.upper())
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        log.addHandler(handler)


@contextmanager
def _terminate_like_interrupt() -> Iterator[None]:
    def end(number: int, frame: Any) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
