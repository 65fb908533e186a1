"""A run at the terminal: signals, log, bars, and the last words."""

from __future__ import annotations

import logging
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cmerl.cli import FAILED_UNIT, INTERRUPTED, TERMINATED
from cmerl.experiments.failures import told, what_now
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
        typer.echo(f"stopped; go on with: cmerl resume {shlex.quote(str(directory))}", err=True)
        return TERMINATED if isinstance(interrupt, _Terminated) else INTERRUPTED
    typer.echo(table(results.summary()))
    failures = results.failures
    for words, where in told(failures):
        typer.echo(f"cmerl: {words}" + (f"\n       at {where}" if where else ""), err=True)
    if failures:
        typer.echo(f"cmerl: {what_now(len(failures), len(results.units), directory)}", err=True)
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


def table(summary: dict[str, Any]) -> str:
    """The summary for people: one row for each environment and agent."""
    head = ("environment", "agent", "seeds", "episodes", "mean return", "cumulative regret", "s / episode")
    rows = [
        (
            row["env"],
            row["agent"],
            str(row["seeds"]),
            str(row["episodes"]),
            _estimate(row["return"]),
            _estimate(row["cumulative_regret"]),
            "–" if row["seconds_per_episode"] is None else f"{row['seconds_per_episode']:.3g}",
        )
        for row in summary["results"]
    ]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    )


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
