"""``cmerl envs``: list environments."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    pattern: Annotated[str, typer.Argument(metavar="TEXT", help="Only ids that contain this.")] = "",
    allow_env_module: Annotated[
        list[str] | None, typer.Option(help="List the environments of this module too.", metavar="M")
    ] = None,
) -> int:
    """List the environments that can be made here.

    Lists cmerl's environments first, then Gymnasium's: id, horizon (steps per episode), module. A dash means that you
    must give --horizon.

    Examples:
        cmerl envs
        cmerl envs Mountain
        cmerl envs --allow-env-module minigrid
    """
    from cmerl.experiments.environments import list_environments

    found = list_environments(allow_env_module or (), pattern)
    if not found:
        from cmerl.errors import InputError

        raise InputError(
            f"no environment's id contains {pattern!r}: cmerl envs lists all that can be made here, and with "
            "--allow-env-module M those of module M"
        )
    width = max(len(id) for id in ("environment", *(id for id, _, _ in found)))
    typer.echo(f"{'environment':<{width}}  {'horizon':>7}  module")
    for id, horizon, module in found:
        typer.echo(f"{id:<{width}}  {'–' if horizon is None else horizon:>7}  {module}")
    return 0
