"""``cmerl run``: an experiment from an environment's id or a spec file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cmerl.cli.options import Jobs, LogLevel, Tensorboard


def command(
    env_or_spec: Annotated[
        str, typer.Argument(metavar="ENV_OR_SPEC", help="An environment's id, or a spec: a .toml or .json file.")
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Agent to run; repeat to compare several.  [default: cme-rl]", metavar="NAME", show_default=False
        ),
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes per run.  [default: 100]", metavar="N")] = None,
    seeds: Annotated[int | None, typer.Option(help="Number of seeds: 0 … K−1.  [default: 1]", metavar="K")] = None,
    horizon: Annotated[
        int | None, typer.Option(help="Steps per episode.  [default: the environment's]", metavar="H")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run directory.  [default: a new one in runs/]", metavar="DIR")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Engine: local or ray.  [default: local]", metavar="NAME")
    ] = None,
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster to join.", metavar="A")] = None,
    jobs: Jobs = None,
    allow_env_module: Annotated[
        list[str] | None,
        typer.Option(help="Module whose environments and agents you trust; may be repeated.", metavar="M"),
    ] = None,
    step_timeout: Annotated[
        float | None, typer.Option(help="Seconds that a step of an environment may take.", metavar="S")
    ] = None,
    tensorboard: Tensorboard = False,
    log_level: LogLevel = "warning",
) -> int:
    """Run agents in environments.

    Plays every agent with every seed in every environment and stores the results in a run directory.

    Examples:
        cmerl run cmerl/RiverSwim-v0
        cmerl run MountainCar-v0 --horizon 200 --episodes 20
        cmerl run cmerl/RiverSwim-v0 --agent cme-rl --agent random --episodes 200 --seeds 8 --jobs 2
        cmerl run MiniGrid-Empty-5x5-v0 --allow-env-module minigrid
        cmerl run experiment.toml --out runs/mine

    A spec can also set options of environments and agents, wrappers and lists of seeds. Options of the command line
    override the spec. Ctrl-C stops the run; cmerl resume DIR continues it.
    """
    from cmerl.cli.session import board_of, session
    from cmerl.experiments.runner import check, load_spec, new_directory
    from cmerl.experiments.store import RunDirectory

    settings: dict[str, Any] = {
        "agents": agent,
        "episodes": episodes,
        "seeds": seeds,
        "horizon": horizon,
        "engine": engine,
        "address": address,
        "jobs": jobs,
        "allow_env_modules": allow_env_module,
        "step_timeout": step_timeout,
    }
    given = {key: value for key, value in settings.items() if value is not None and value != []}
    spec = load_spec(env_or_spec, given, "command line")
    check(spec)
    directory = out if out is not None else new_directory(spec)
    board = board_of(directory, tensorboard)
    RunDirectory.create(directory, spec, command_line())
    return session(directory, log_level, board=board, address=spec.address, modules=spec.allow_env_modules)


def command_line() -> str:
    """The command as the user typed it."""
    import shlex

    return shlex.join(["cmerl", *sys.argv[1:]])
