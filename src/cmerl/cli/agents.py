"""``cmerl agents``: list agents and their options."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cmerl.agents.catalogue import Option


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One agent; by default all.", show_default=False)
    ] = None,
) -> int:
    """List agents and their options: type, default and meaning.

    Examples:
        cmerl agents
        cmerl agents psrl
    """
    from cmerl import agents

    if name is not None:
        agents.describe(name)  # raises for an unknown name before anything is printed
    for agent in agents.names() if name is None else [name]:
        typer.echo(f"{agent}: {agents.describe(agent)}")
        options = agents.parameters(agent)
        for option in options:
            meaning = (option.line or _elsewhere(option.name, options)).replace("``", "")
            default = "" if option.default is None else f" = {option.default}"
            for line in _wrapped(f"{option.name}: {option.type}{default}", meaning):
                typer.echo(line)
    return 0


def _elsewhere(name: str, options: Sequence[Option]) -> str:
    """Where an option is explained that is named in another's line."""
    return next((f"see {other.name}" for other in options if f"``{name}``" in other.line), "")


def _wrapped(head: str, meaning: str) -> list[str]:
    """An option in lines that fit the terminal; elsewhere in one line, for grep."""
    if not sys.stdout.isatty():
        return [f"    {head}  {meaning}".rstrip()]
    width = max(shutil.get_terminal_size().columns - 1, 40)
    more = textwrap.wrap(meaning, width, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return [*textwrap.wrap(head, width, initial_indent=" " * 4, subsequent_indent=" " * 6), *more]
