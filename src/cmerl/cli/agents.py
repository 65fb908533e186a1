"""``cmerl agents``: who there is to play."""

from __future__ import annotations

import typer


def command() -> int:
    """List agents and their options.

    Examples:
        cmerl agents
    """
    from cmerl import agents

    for name in agents.names():
        typer.echo(f"{name}: {agents.describe(name)}")
        options = agents.options(name)
        if options:
            typer.echo(f"    options: {', '.join(options)}")
    return 0
