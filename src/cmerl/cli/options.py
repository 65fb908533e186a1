"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

LEVELS = ("debug", "info", "warning", "error")


def _level(value: str) -> str:
    if value.lower() not in LEVELS:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(LEVELS)}")
    return value.lower()


Jobs = Annotated[int | None, typer.Option(help="Runs at a time.  [default: as many as there are cores]", metavar="J")]
Tensorboard = Annotated[
    bool, typer.Option("--tensorboard", help="Write curves for TensorBoard to DIR/tensorboard as well.")
]
LogLevel = Annotated[
    str, typer.Option(help=f"What to be told of: {', '.join(LEVELS)}.", metavar="L", callback=_level)
]
