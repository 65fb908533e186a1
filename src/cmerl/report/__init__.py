"""Reports from a run directory: one HTML page, figures for a paper and a live view."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot", "serve", "write_figures", "write_page"]


def write_page(directory: str | os.PathLike[str], path: str | os.PathLike[str] | None = None) -> Path:
    """Write the report of a run and return its path.

    Args:
        directory: directory of a run, finished or not, or of a finished search (cmerl tune).
        path: file of the page; by default report.html in the directory.
    """
    from cmerl.errors import InputError
    from cmerl.report import html, rundir, tuned

    html.check_installed()
    search = tuned.search_in(Path(directory))
    run = rundir.read(directory if search is None else search.run)
    target = Path(path) if path is not None else Path(directory) / "report.html"
    page = html.render(run, search=search)
    try:
        return html.write(target, page)
    except InputError as error:
        raise InputError(f"the page cannot be written: {error}") from None


def write_figures(directory: str | os.PathLike[str], target: str | os.PathLike[str]) -> list[Path]:
    """Write a run's figures as PDF and PNG with captions.txt into the folder ``target``; returns the files."""
    from cmerl.report import paper, rundir

    return paper.write_figures(rundir.read(directory), target)


def plot(results: Any) -> Figure:
    """The regret curves of a run, or its returns if regret is unknown, as a figure for notebooks.

    Args:
        results: the results of ``cmerl.experiments.run``, or a run directory.
    """
    from cmerl.report import paper

    return paper.plot(results)


def serve(directory: str | os.PathLike[str], announce: Callable[[str], None]) -> None:
    """Serve a run's live page on this machine until Ctrl-C.

    Args:
        directory: directory of a finished, stopped or running run.
        announce: called with the address once the page is available.
    """
    from cmerl.report import html, rundir, watch

    html.check_installed()
    with watch.Server(rundir.check(directory)) as server:
        announce(server.address)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            return
