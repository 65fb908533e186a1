"""``cmerl tune``: search an agent's options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cmerl.cli.options import Jobs

if TYPE_CHECKING:
    from cmerl.experiments.tuning import Tuned


def command(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="Spec with a table [tune]: a .toml or .json file.")],
    trials: Annotated[
        int | None, typer.Option(help="Number of settings to try.  [default: the spec's, or 30]", metavar="N")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory of the search.  [default: runs/NAME-tuned]", metavar="DIR")
    ] = None,
    jobs: Jobs = None,
) -> int:
    """Search an agent's options.

    Compares settings on tuning seeds, then the best with the default on the other seeds of the spec. An improvement
    is always positive. Ctrl-C stops the search; the same command continues it, and a larger --trials extends it.
    cmerl report DIR writes a report.

    Examples:
        cmerl tune experiment.toml
        cmerl tune experiment.toml --trials 60 --jobs 2
    """
    from cmerl.cli import INTERRUPTED
    from cmerl.experiments import tuning

    directory = out if out is not None else Path("runs") / f"{spec.stem}-tuned"
    settings = {} if trials is None else {"trials": trials}
    try:
        found = tuning.tune(spec, out=directory, say=typer.echo, jobs=jobs, **settings)
    except KeyboardInterrupt:
        typer.echo("stopped; run the same command to continue", err=True)
        return INTERRUPTED
    typer.echo(summary(found))
    return 0


def summary(found: Tuned) -> str:
    """The result in words."""
    lines = [
        f"{found.trials} trials on seeds {_listed(found.tuning_seeds)}"
        + (f", {found.failed} failed" * bool(found.failed))
    ]
    if found.trial is None:
        lines.append("nothing beat the default")
    else:
        lines.append(f"best options (trial {found.trial + 1}): {json.dumps(found.options)}")
        lines.append(f"against the default on seeds {_listed(found.final_seeds)}, none of which was tuned on:")
        lines += [f"  {words}" for words in found.verdicts()]
    return "\n".join([*lines, f"everything in {found.directory}"])


def _listed(seeds: list[int]) -> str:
    run = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 2
    return f"{seeds[0]}–{seeds[-1]}" if run else ", ".join(map(str, seeds))
