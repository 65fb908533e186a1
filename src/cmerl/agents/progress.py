"""A progress bar for ``learn``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(episodes: int, name: str, *, enabled: bool) -> Iterator[Callable[[Any], None]]:
    """Yield a function to call with every finished episode's record."""
    if not enabled:
        yield lambda record: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[status]}"),
    )
    best = -float("inf")
    with Progress(*columns) as bar:
        task = bar.add_task(name, total=episodes, status="")

        def tick(record: Any) -> None:
            nonlocal best
            best = max(best, record.ret)
            bar.update(task, advance=1, status=f"return {record.ret:.4g}  best {best:.4g}")

        yield tick
