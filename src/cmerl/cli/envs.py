"""``cmerl envs``: what there is to run in."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    pattern: Annotated[str, typer.Argument(metavar="[TEXT]", help="Only ids that contain this.")] = "",
    allow_env_module: Annotated[
        list[str] | None, typer.Option(help="List the environments of this module too.", metavar="M")
    ] = None,
) -> int:
    """List environments.

    First cmerl's worlds, whose optimum is known, then Gymnasium's: id, steps per episode, module.

    Examples:
        cmerl envs
        cmerl envs Mountain
        cmerl envs --allow-env-module minigrid
    """
    from cmerl.experiments.environments import list_environments

    found = [row for row in list_environments(allow_env_module or ()) if pattern.lower() in row[0].lower()]
    if not found:
        from cmerl.errors import InputError

        raise InputError(f"no environment's id contains {pattern!r}: cmerl envs lists all")
    width = max(len(id) for id, _, _ in found)
    for id, steps, module in found:
        typer.echo(f"{id:<{width}}  {steps:>6}  {module}")
    return 0
