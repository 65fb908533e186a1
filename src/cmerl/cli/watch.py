"""``cmerl watch``: the page of a run while it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run that goes on.")],
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> int:
    """Show a run while it goes on, in a browser on this machine only; Ctrl-C ends the showing, not the run.

    Examples:
        cmerl watch runs/RiverSwim-v0-20250101-120000

    The run may be stopped and resumed meanwhile: the page follows.
    """
    from cmerl.report import serve

    def announce(address: str) -> None:
        typer.echo(f"{directory} is at {address} (Ctrl-C to stop)")
        if open_browser:
            typer.launch(address)

    serve(directory, announce)
    return 0
