"""``cmerl watch``: the report of a run while it is running."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of the run.")],
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> int:
    """Serve the live report of a run to this machine.

    Ctrl-C stops the server, not the run.

    Examples:
        cmerl watch runs/RiverSwim-v0-20250101-120000

    The page follows a run that is stopped and resumed.
    """
    from cmerl.report import serve

    def announce(address: str) -> None:
        typer.echo(f"{directory} is at {address} (Ctrl-C to stop)")
        if open_browser:
            typer.launch(address)

    serve(directory, announce)
    return 0
