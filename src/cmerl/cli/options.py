"""Options shared by several commands."""

from __future__ import annotations

from typing import Annotated

import typer

LEVELS = ("debug", "info", "warning", "error")


def _level(value: str) -> str:
    if value.lower() not in LEVELS:
        raise typer.BadParameter(f"{value!r} must be one of {', '.join(LEVELS)}")
    return value.lower()


Jobs = Annotated[int | None, typer.Option(help="Units at a time.  [default: number of cores]", metavar="J")]
Tensorboard = Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard curves to DIR/tensorboard.")]
LogLevel = Annotated[str, typer.Option(help=f"Log level: {', '.join(LEVELS)}.", metavar="L", callback=_level)]
