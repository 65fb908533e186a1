"""``cmerl theory``: the theorems as numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cmerl.cli import theory_words

if TYPE_CHECKING:
    from cmerl.theory import Setting

HELP = """Evaluate the theorems as numbers.

Information gain, radii, regret, episodes for a PAC policy.

\b
Examples:
    cmerl theory gain --points 12
    cmerl theory regret --env cmerl/RiverSwim-v0 -o bounds.csv
    cmerl theory pac --states 6 --actions 2 --horizon 20 --epsilon 0.5,1
"""

command = typer.Typer(help=HELP, no_args_is_help=True)

Env = Annotated[str, typer.Option(help="Finite environment whose sizes to use.", metavar="ID")]
States = Annotated[int, typer.Option(help="Number of states, with delta kernels.", metavar="S")]
Actions = Annotated[int, typer.Option(help="Number of actions.", metavar="A")]
Horizon = Annotated[
    int, typer.Option(help="Steps per episode.  [default: the environment's, or 10]", metavar="H", show_default=False)
]
Features = Annotated[int, typer.Option(help="Number of features of a linear kernel, instead of states.", metavar="D")]
BV = Annotated[float, typer.Option("--B-V", help="Bound on the norm of values, for --features.")]
BP = Annotated[float, typer.Option("--B-P", help="Bound on the norm of the transition operator, for --features.")]
Lam = Annotated[float, typer.Option(help="Ridge λ.")]
Delta = Annotated[float, typer.Option(help="Failure probability δ.")]
Zeta = Annotated[float, typer.Option(help="Misspecification ζ.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Also write FILE.csv, FILE.json or a figure.", metavar="FILE")
]

COUNTS = "10,100,1000,10000,100000,1000000"


@command.command()
def gain(
    kernel: Annotated[str, typer.Option(help="delta, linear, rbf or matern.")] = "delta",
    points: Annotated[int, typer.Option(help="Points of a delta kernel, or of the grid.", metavar="M")] = 12,
    dimension: Annotated[int, typer.Option(help="Features of a linear kernel, or dimensions.", metavar="D")] = 2,
    lengthscale: Annotated[float, typer.Option(help="Lengthscale of rbf and matern.")] = 0.3,
    counts: Annotated[str, typer.Option(help="Values of N, separated by commas.")] = COUNTS,
    lam: Lam = 1.0,
    output: Output = None,
) -> int:
    """Show bounds on the maximal information gain.

    Examples:
        cmerl theory gain --points 12
        cmerl theory gain --kernel rbf --points 100 --dimension 2 -o gain.csv
    """
    from cmerl.theory import tables

    rows = tables.gain_rows(
        kernel, _wholes(counts), lam=lam, points=points, dimension=dimension, lengthscale=lengthscale
    )
    held = {"delta": f"{points} points", "linear": f"{dimension} features"}
    where = held.get(kernel, f"{points} points of [0, 1]^{dimension}, width {lengthscale:g}")
    title = f"maximal information gain, {kernel} kernel"
    return _show(title, rows, output, f"with λ = {lam:g}, {where}", theory_words.gain_verdict(rows))


@command.command()
def radius(
    env: Env = "",
    states: States = 6,
    actions: Actions = 2,
    horizon: Horizon = 0,
    features: Features = 0,
    b_v: BV = 1.0,
    b_p: BP = 1.0,
    lam: Lam = 1.0,
    delta: Delta = 0.1,
    episodes: Annotated[str, typer.Option(help="Numbers of episodes, separated by commas.")] = COUNTS,
    output: Output = None,
) -> int:
    """Show the largest radius of every mode.

    Examples:
        cmerl theory radius --env cmerl/RiverSwim-v0
    """
    setting, sizes = _setting(env, states, actions, horizon, features, b_v, b_p, lam, delta, 0.0)
    from cmerl.theory import tables

    rows = tables.radius_rows(setting, _wholes(episodes))
    about = theory_words.constants(setting, sizes)
    return _show("confidence radii at their largest", rows, output, about, theory_words.radius_verdict(rows))


@command.command()
def regret(
    env: Env = "",
    states: States = 6,
    actions: Actions = 2,
    horizon: Horizon = 0,
    features: Features = 0,
    b_v: BV = 1.0,
    b_p: BP = 1.0,
    lam: Lam = 1.0,
    delta: Delta = 0.1,
    zeta: Zeta = 0.0,
    episodes: Annotated[str, typer.Option(help="Numbers of episodes, separated by commas.")] = COUNTS,
    output: Output = None,
) -> int:
    """Show regret bounds and when they are non-trivial.

    The bounds are those of Thm 2, and with misspecification of Thm 3.

    Examples:
        cmerl theory regret --env cmerl/RiverSwim-v0 -o bounds.json
        cmerl theory regret --states 6 --actions 2 --horizon 20 --zeta 0.01 -o bounds.pdf
    """
    setting, sizes = _setting(env, states, actions, horizon, features, b_v, b_p, lam, delta, zeta)
    from cmerl.theory import tables

    rows = tables.regret_rows(setting, _wholes(episodes))
    about = theory_words.constants(setting, sizes)
    return _show("bounds on cumulative regret", rows, output, about, theory_words.regret_verdict(rows))


@command.command()
def pac(
    env: Env = "",
    states: States = 6,
    actions: Actions = 2,
    horizon: Horizon = 0,
    features: Features = 0,
    b_v: BV = 1.0,
    b_p: BP = 1.0,
    lam: Lam = 1.0,
    delta: Delta = 0.1,
    zeta: Zeta = 0.0,
    epsilon: Annotated[str, typer.Option(help="Accuracies, separated by commas.")] = "0.1,1,5",
    failure: Annotated[float, typer.Option(help="Probability that the draw of the policy fails.")] = 0.1,
    output: Output = None,
) -> int:
    """Show the episodes needed for an epsilon-optimal policy.

    The policy is drawn from those played.

    Examples:
        cmerl theory pac --env cmerl/RiverSwim-v0 --epsilon 0.5,1
    """
    setting, sizes = _setting(env, states, actions, horizon, features, b_v, b_p, lam, delta, zeta)
    from cmerl.theory import tables

    rows = tables.pac_rows(setting, _numbers(epsilon, float), failure)
    title = f"episodes until ε-optimal with probability {1 - delta - failure:g}"
    return _show(title, rows, output, theory_words.constants(setting, sizes), theory_words.pac_verdict(rows))


def _setting(
    env: str,
    states: int,
    actions: int,
    horizon: int,
    features: int,
    b_v: float,
    b_p: float,
    lam: float,
    delta: float,
    zeta: float,
) -> tuple[Setting, dict[str, int]]:
    """The constants, and the sizes that they are of."""
    from cmerl.theory import tables

    if features:
        linear = tables.linear_setting(features, horizon or 10, B_V=b_v, B_P=b_p, lam=lam, delta=delta, zeta=zeta)
        return linear, {"D": features}
    if env:
        import cmerl
        from cmerl.errors import InputError
        from cmerl.experiments.environments import make_environment
        from cmerl.experiments.spec import EnvironmentSpec

        world = make_environment(EnvironmentSpec(id=env, options={}))
        model = cmerl.oracles.finite_model(world)
        if model is None:
            raise InputError(f"{env!r} is not a finite environment with known dynamics: give --states and --actions")
        (states, actions), horizon = model.R.shape, horizon or cmerl.agents.base.find_horizon(world, None)
    finite = tables.finite_setting(states, actions, horizon or 10, lam=lam, delta=delta, zeta=zeta)
    return finite, {"S": states, "A": actions}


def _numbers(text: str, kind: Callable[[str], Any]) -> list[Any]:
    from cmerl.errors import InputError

    try:
        return [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InputError(f"{text!r} is not a list of numbers separated by commas") from None


def _wholes(text: str) -> list[int]:
    return _numbers(text, int)


def _show(title: str, rows: list[dict[str, Any]], output: Path | None, constants: str, verdict: str) -> int:
    """Print a table with its constants, a legend and a verdict; write it to a file in the format of its suffix."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    console = Console(highlight=False)
    console.print(table)
    for line in (constants, *theory_words.legend(rows)):
        console.print(f"  {line}", style="dim")
    typer.echo(f"{verdict[0].upper()}{verdict[1:]}")
    if output is not None:
        _write(title, rows, output)
    return 0


def _cell(value: Any) -> str:
    if value is None:
        return ""
    large = isinstance(value, int) and value >= 10**7
    return f"{value:.4g}" if isinstance(value, float) or large else str(value)


def _write(title: str, rows: list[dict[str, Any]], output: Path) -> None:
    import csv
    import json

    from cmerl.errors import InputError

    if output.suffix == ".json":
        output.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    elif output.suffix == ".csv":
        with open(output, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif output.suffix in (".pdf", ".png", ".svg"):
        _draw(title, rows, output)
    else:
        raise InputError(f"{output.name!r} must end in .csv, .json, .pdf, .png or .svg")
    typer.echo(f"written to {output}")


def _draw(title: str, rows: list[dict[str, Any]], output: Path) -> None:
    """Every column of numbers against the first one, on logarithmic axes."""
    import math

    from matplotlib.figure import Figure

    first, *names = rows[0]
    drawn = [row for row in rows if isinstance(row[first], int | float)]
    figure = Figure(figsize=(5.0, 3.5), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel=first, title=title)
    for name in names:
        points = [(row[first], row[name]) for row in drawn if isinstance(row[name], int | float)]
        points = [(x, y) for x, y in points if 0 < y < math.inf]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    axes.legend()
    figure.savefig(output)
