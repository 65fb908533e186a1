"""The report page of a run: one responsive HTML file that needs no network."""

from __future__ import annotations

import base64
import gzip
import json
import os
import shlex
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cmerl.errors import CmerlError
from cmerl.experiments.failures import told, what_now
from cmerl.files import write_atomically
from cmerl.report import comparison, curves, maps
from cmerl.report.progress import Progress
from cmerl.report.rundir import RunDirectory
from cmerl.report.sections import section
from cmerl.report.style import styles
from cmerl.report.terms import TERMS
from cmerl.report.tuned import Search
from cmerl.report.verdict import MOST_SEEDS, verdict

FIGURES_EACH = 8  # about as many an agent and environment


class MissingExtraError(CmerlError):
    """A library that reports need is not installed."""


def check_installed(*names: str) -> None:
    """Raise now rather than after the work if a report cannot be made."""
    missing = [name for name in names or ("jinja2", "plotly") if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"a report needs {' and '.join(missing)}: pip install 'cmerl[report]'")


@dataclass(frozen=True)
class Part:
    """A figure's place on the page."""

    id: str
    title: str
    note: str
    toggle: bool


def render(
    run: RunDirectory,
    *,
    live: bool = False,
    whole: bool = True,
    progress: Progress | None = None,
    search: Search | None = None,
) -> str:
    """The page as text.

    Args:
        run: what to show.
        live: whether the page asks its server for news.
        whole: with plotly.js; a live page has it already when it asks for news.
        progress: how far a live run is.
        search: that the run is the last part of, if it is.
    """
    check_installed()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("cmerl.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    most = curves.points_each(FIGURES_EACH * len(run.runs))
    sections = [section(run, env, i, most) for i, env in enumerate(run.envs)]
    compared = comparison.figures(run)
    state_maps, map_notes = maps.figures(run)
    figures = {key: _plain(figure) for key, figure in [*compared, *(f for s in sections for f in s.figures)]}
    look = styles(run.agents)
    data = {
        "agents": [{"name": escape(n, quote=False), "colour": s.colour, "dash": s.dash} for n, s in look.items()],
        "figures": figures,
        "maps": state_maps,
    }
    return environment.get_template("report.html.j2").render(
        title=title(run),
        problems=[*run.problems, *map_notes],
        failures=told(run.failures),
        what_now=what_now(len(run.failures), _units(run), run.path, _modules(run)) if run.failures else "",
        verdict=verdict(run),
        search=search,
        about=about(run, search),
        terms=TERMS,
        most_seeds=MOST_SEEDS,
        progress=progress,
        live=live,
        sections=sections,
        parts={s.id: _parts(s.figures) for s in sections},
        compared=_parts(compared),
        maps={env: [m["id"] for m in state_maps.values() if m["env"] == env] for env in run.envs},
        map_of=state_maps,
        style=look,
        command=command(run),
        facts=facts(run),
        manifest=json.dumps(run.manifest, indent=2, ensure_ascii=False) if run.manifest else "",
        data=data,
        plotly=_plotly() if whole else "",
    )


def title(run: RunDirectory) -> str:
    """The title of the page."""
    name = run.manifest.get("title") or run.manifest.get("name")
    if isinstance(name, str) and name:
        return name
    if run.runs:
        return f"{_list(run.agents, 'agents')} in {_list(run.envs, 'environments')}"
    return f"The run in {run.path.name}"


def _modules(run: RunDirectory) -> list[str]:
    """Modules that whoever resumes the run must trust again."""
    spec = run.manifest.get("spec")
    modules = spec.get("allow_env_modules") if isinstance(spec, dict) else None
    return [str(module) for module in modules] if isinstance(modules, list) else []


def about(run: RunDirectory, search: Search | None = None) -> str:
    """Which run or search this is, of when, and with what."""
    versions = run.manifest.get("versions")
    versions = versions if isinstance(versions, dict) else {}
    made = [f"{name} {versions[name]}" for name in ("cmerl", "numpy", "gymnasium", "python") if name in versions]
    created = run.manifest.get("created")
    when = [created.replace("T", " ")[:16] + " UTC"] if isinstance(created, str) else []
    place = run.path.resolve()
    name = f"run {place.name}" if search is None else f"search {place.parent.name}"
    return " · ".join([name, *when, *([", ".join(made)] if made else [])])


def _units(run: RunDirectory) -> int:
    """Runs that there are to be, failed ones included."""
    units = run.summary.get("units") if isinstance(run.summary, dict) else None
    total = units.get("total") if isinstance(units, dict) else None
    return total if type(total) is int else max(len(run.failures), sum(len(runs.seeds) for runs in run.runs))


def command(run: RunDirectory) -> str:
    """The command that repeats the run."""
    recorded = run.manifest.get("command")
    if isinstance(recorded, str):
        return recorded
    if isinstance(recorded, list):
        return shlex.join(map(str, recorded))
    return ""


def facts(run: RunDirectory) -> dict[str, str]:
    """Facts from the manifest that the numbers depend on."""
    found: dict[str, str] = {}
    for key, value in run.manifest.items():
        if isinstance(value, str | int | float) and key not in ("command", "title", "name"):
            found[key] = str(value)
    versions = run.manifest.get("versions")
    if isinstance(versions, dict):
        found.update({str(name): str(value) for name, value in versions.items()})
    return found


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page; an interrupted write leaves the old one."""
    target = Path(path)
    write_atomically(target, [text.encode()])
    return target


def _parts(figures: list[tuple[str, dict[str, Any]]]) -> list[Part]:
    return [Part(key, f["title"], f.get("note", ""), bool(f.get("toggle"))) for key, f in figures]


def _plain(figure: dict[str, Any]) -> dict[str, Any]:
    """For plotly.js, which reads labels as HTML."""
    rows = [{**row, "label": escape(row["label"], quote=False)} for row in figure.get("rows", [])]
    return {**figure, "title": escape(figure["title"], quote=False), **({"rows": rows} if rows else {})}


def _list(names: list[str], what: str) -> str:
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} {what}"


@cache
def _plotly() -> str:
    """plotly.js as shipped with plotly, compressed to a third; the browser unpacks it."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()
