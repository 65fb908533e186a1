"""``cmerl resume``: continue an interrupted run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cmerl.cli.options import Jobs, LogLevel, Tensorboard


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of the interrupted run.")],
    jobs: Jobs = None,
    address: Annotated[
        str | None, typer.Option(help="Address of the Ray cluster, if the run used one.", metavar="A")
    ] = None,
    allow_env_module: Annotated[
        list[str] | None, typer.Option(help="Module whose environments and agents you trust.", metavar="M")
    ] = None,
    tensorboard: Tensorboard = False,
    log_level: LogLevel = "warning",
) -> int:
    """Continue an interrupted run.

    Examples:
        cmerl resume runs/RiverSwim-v0-20250101-120000

    The result is the same, bit for bit, as without the interruption. Failed units are tried again. A run directory
    may come from somebody else, so you must repeat the modules and addresses that it names.
    """
    from cmerl.cli.session import board_of, session

    board = board_of(directory, tensorboard)
    return session(directory, log_level, jobs, board, address=address, modules=allow_env_module or ())
