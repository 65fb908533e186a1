"""The HTML page: one file, no network, readable on a phone and on a wide screen, in the dark and in daylight."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cmerl.errors import CmerlError
from cmerl.experiments.statistics import RegretSummary
from cmerl.report.figures import regret_figure, styles
from cmerl.report.results import WorldRuns


class MissingExtraError(CmerlError):
    """A library that reports need is not installed."""


def check_installed() -> None:
    """Raise now rather than after the runs if a page cannot be made."""
    missing = [name for name in ("jinja2", "plotly") if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"a report needs {' and '.join(missing)}: pip install 'cmerl[report]'")


def render(
    worlds: Sequence[WorldRuns],
    *,
    title: str,
    command: str,
    versions: Mapping[str, str],
    notes: Sequence[str] = (),
) -> str:
    """The page as text.

    Args:
        worlds: results, one section each.
        title: heading of the page.
        command: what to type to get the same numbers.
        versions: of everything that they depend on.
        notes: paragraphs about the agents, shown above the results.
    """
    check_installed()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("cmerl.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = list(dict.fromkeys(runs.name for world in worlds for runs in world.agents))
    style = styles(names)
    return environment.get_template("page.html.j2").render(
        title=title,
        notes=notes,
        worlds=[_section(world) for world in worlds],
        figures=[regret_figure(world, style) for world in worlds],
        style=style,
        command=command,
        versions=versions,
        plotly=Markup(get_plotlyjs()),  # ours, not a user's: must not be escaped
    )


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page; an interrupted write leaves the old one."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, target)
    return target


def format_number(value: float) -> str:
    """About three significant digits, and no exponent: 0.03, 9.55, 71.9, 974, 12345."""
    decimals = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:.{decimals}f}"


def format_interval(summary: RegretSummary) -> str:
    """The interval, or a dash where there is none."""
    if summary.low != summary.low:  # NaN
        return "–"
    return f"{format_number(summary.low)} – {format_number(summary.high)}"


def format_stuck(summary: RegretSummary, seeds: int) -> str:
    """As a count, which is honest about how few seeds there are."""
    return f"{round(summary.stuck * seeds)} of {seeds}"


def _section(world: WorldRuns) -> dict[str, Any]:
    """A world as the template shows it."""
    rows = [
        {
            "name": runs.name,
            "mean": format_number(summary.mean),
            "interval": format_interval(summary),
            "worst": format_number(summary.worst),
            "stuck": format_stuck(summary, runs.seeds),
            "stuck_any": summary.stuck > 0,
            "ms": f"{1000 * runs.seconds:.1f}",
        }
        for runs, summary in zip(world.agents, world.summaries, strict=True)
    ]
    return {
        "name": world.name,
        "horizon": world.horizon,
        "optimum": f"{world.optimum:.4g}",
        "random_loss": f"{world.random_loss:.4g}",
        "episodes": max(runs.episodes for runs in world.agents),
        "seeds": max(runs.seeds for runs in world.agents),
        "rows": rows,
    }
