"""``cmerl check``: find mistakes in an environment."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cmerl.checking.report import Finding


def command(
    env: Annotated[str, typer.Argument(metavar="ENV", help="Environment id, such as CartPole-v1.")],
    horizon: Annotated[
        int | None, typer.Option(help="Steps per episode.  [default: the environment's]", metavar="H")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the test actions.", metavar="N")] = 0,
    allow_env_module: Annotated[
        list[str] | None, typer.Option(help="Module whose environments you trust.", metavar="M")
    ] = None,
) -> int:
    """Play a few episodes and report mistakes in an environment.

    The exit code is 1 if there is an error or a warning.

    Examples:
        cmerl check MountainCar-v0
        cmerl check MiniGrid-Empty-5x5-v0 --allow-env-module minigrid
    """
    from rich.console import Console

    from cmerl.checking import check_env
    from cmerl.experiments.environments import make_environment
    from cmerl.experiments.spec import EnvironmentSpec

    world = make_environment(EnvironmentSpec(id=env, options={}), allow_env_module or ())
    try:
        report = check_env(world, horizon=horizon, seed=seed)
    finally:
        with suppress(Exception):  # what was found counts
            world.close()
    console = Console(highlight=False)
    if report.findings:
        console.print(_table(f"{env}: found", [(_coloured(f.severity), _lines(f)) for f in report]))
    else:
        console.print(f"{env}: no problems found")
    console.print(_table(f"{env}: automatic choices", list(report.choices.items())))
    console.print(
        f"{report.steps} steps played, {1000 * report.seconds_per_step:.2g} ms each; "
        f"a reset takes {1000 * report.seconds_per_reset:.2g} ms"
    )
    return 0 if report.ok else 1


def _table(title: str, rows: list[tuple[str, str]]) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False)
    for row in rows:
        table.add_row(*row)
    return table


def _coloured(severity: str) -> str:
    colours = {"error": "red", "warning": "yellow", "note": "cyan"}
    return f"[{colours[severity]}]{severity}[/]"


def _lines(finding: Finding) -> str:
    """A finding, in which rich is to find no markup but ours."""
    from rich.markup import escape

    replay = f"\n[dim]to reproduce:[/]\n{escape(finding.replay)}" if finding.replay else ""
    return f"{escape(finding.what)}\n[dim]{escape(finding.fix)}[/]{replay}"
