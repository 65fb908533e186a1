"""``cmerl report``: one HTML page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory of a run, finished or not, or of cmerl tune.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File of the page.  [default: DIR/report.html]"),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="OUTDIR", help="Also write figures for a paper there: PDF, PNG, captions.")
    ] = None,
) -> int:
    """Write a report of a run as one HTML page.

    The page needs no network. --figures also writes figures for a paper.

    Examples:
        cmerl report runs/RiverSwim-v0-20250101-120000
        cmerl report runs/mine -o mine.html --figures figures
    """
    from cmerl.report import write_figures, write_page

    typer.echo(write_page(directory, output))
    if figures is not None:
        for path in write_figures(directory, figures):
            typer.echo(path)
    return 0
