"""``cmerl agents``: who there is to play."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    name: Annotated[str | None, typer.Argument(help="One agent; by default all.", show_default=False)] = None,
) -> int:
    """List agents and their options, with types and defaults.

    Examples:
        cmerl agents
        cmerl agents psrl
    """
    from cmerl import agents

    if name is not None:
        agents.describe(name)  # an unknown name is told before anything is printed
    for agent in agents.names() if name is None else [name]:
        typer.echo(f"{agent}: {agents.describe(agent)}")
        for option in agents.parameters(agent):
            default = "" if option.default is None else f" = {option.default}"
            told = f"  {option.line}" if option.line else ""
            typer.echo(f"    {option.name}: {option.type}{default}{told}")
    return 0
