"""``cmerl resume``: go on with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cmerl.cli.options import Jobs, LogLevel, Tensorboard


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run that was interrupted.")],
    jobs: Jobs = None,
    address: Annotated[
        str | None, typer.Option(help="Of the Ray cluster to join, if the run was on one.", metavar="A")
    ] = None,
    allow_env_module: Annotated[
        list[str] | None, typer.Option(help="Trust this module, which the run's environments come from.", metavar="M")
    ] = None,
    tensorboard: Tensorboard = False,
    log_level: LogLevel = "warning",
) -> int:
    """Go on with an interrupted run.

    Examples:
        cmerl resume runs/RiverSwim-v0-20250101-120000

    What comes out is what the run would have given without the interruption, bit for bit. Runs that failed are tried
    again. A run directory may be somebody else's: modules and addresses that it names must be named again here.
    """
    from cmerl.cli.session import board_of, session

    board = board_of(directory, tensorboard)
    return session(directory, log_level, jobs, board, address=address, modules=allow_env_module or ())
