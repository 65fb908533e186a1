"""``cmerl report``: what happened, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run, finished or not.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The page.  [default: DIR/report.html]")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="OUTDIR", help="Write figures for a paper there too: PDF, PNG, captions.")
    ] = None,
) -> int:
    """Make one HTML page of a run that needs no network, and figures for a paper if wanted.

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
