"""Figures for a paper: PDF and PNG at column width, readable in greyscale, with captions."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.experiments import statistics
from cmerl.report import comparison, curves, rundir, tables
from cmerl.report.curves import BOOTSTRAP_SEED, Curve
from cmerl.report.html import check_installed
from cmerl.report.rundir import RunDirectory, Runs
from cmerl.report.style import Style, interval, number, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FloatArray = NDArray[np.float64]

COLUMN = 3.3  # inches
POINTS = 300  # of a curve: more cannot be seen in print
LINES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1.2, 1.2)),
    "dashdot": "-.",
    "longdash": (0, (8, 2)),
}
LOOK: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e2e5e9",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.3,
    "pdf.fonttype": 42,  # letters stay letters
    "savefig.dpi": 300,
}
BAND = "Lines are means over seeds, bands 95 % bootstrap intervals over seeds."
METRICS = (
    ("gain", "metrics.information_gain", "information gain", "Information gain of the embedding."),
    ("dictionary", "metrics.dictionary", "dictionary size", "Points that represent the embedding."),
)


def write_figures(run: RunDirectory, directory: str | os.PathLike[str]) -> list[Path]:
    """Write every figure as PDF and PNG, and captions.txt; the files written."""
    check_installed("matplotlib")
    if not run.runs:
        raise InputError(f"{str(run.path)!r} has no finished episodes to draw")
    target = Path(directory)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to the folder {os.fspath(directory)!r}: {error.strerror}") from None
    written, captions = [], []
    for name, caption, figure in figures(run):
        for suffix in (".pdf", ".png"):
            written.append(target / f"{name}{suffix}")
            save_figure(figure, written[-1])
        captions.append(f"{name}: {caption}\n")
    written.append(target / "captions.txt")
    written[-1].write_text("\n".join(captions), encoding="utf-8")
    return written


@dataclass(frozen=True, eq=False)
class Drawing:
    """Curves to draw into one panel.

    Attributes:
        words: what the caption begins with.
        label: of the vertical axis.
        lines: one curve an agent.
        log: whether both axes are logarithmic.
        zero: whether the vertical axis begins at 0.
        rule: where to draw a level.
    """

    words: str
    label: str
    lines: dict[str, Curve]
    log: bool = False
    zero: bool = False
    rule: float | None = None


def figures(run: RunDirectory) -> list[tuple[str, str, Figure]]:
    """(file name, caption, figure) of everything that the run has numbers for."""
    look = styles(run.agents)
    found = []
    for i, env in enumerate(run.envs):
        all_runs = run.of(env)
        stem = re.sub(r"[^A-Za-z0-9]+", "-", env).strip("-").lower() or "world"
        stem = stem if len(run.envs) == 1 else f"{i + 1}-{stem}"
        for key, drawing in drawings(all_runs).items():
            figure = _panels([drawing], look)
            found.append((f"{stem}-{key}", f"{drawing.words} {env}, {_sizes(all_runs)}. {BAND}", figure))
    if len(scores := comparison.scores(run)) > 1:
        words = (
            "Interquartile mean of final scores with 95 % stratified bootstrap intervals; in each environment 0 is "
            "the worst run and 1 is V* where it is known, else the best run."
        )
        found.append(("together-iqm", words, _iqm(scores, look)))
    return found


def plot(results: Any) -> Figure:
    """Regret, or returns where it is not known, of every environment side by side, for notebooks.

    Args:
        results: the results of ``cmerl.experiments.run``, or a run directory.
    """
    check_installed("matplotlib")
    run = rundir.read(getattr(results, "directory", results))
    if not run.runs:
        raise InputError(f"{str(run.path)!r} has no finished episodes to draw")
    all_drawings = [drawings(run.of(env)) for env in run.envs]
    return _panels([d.get("regret", d["return"]) for d in all_drawings], styles(run.agents), titles=run.envs)


def drawings(all_runs: Sequence[Runs]) -> dict[str, Drawing]:
    """The figures of one environment."""
    best = tables.optimum(all_runs)
    words = "Return of an episode (running mean over a twentieth of the episodes)"
    returns = {r.agent: curves.smoothed(_block(r, "return"), POINTS) for r in all_runs}
    found = {"return": Drawing(words + ("." if best is None else "; dotted: V*."), "return", returns, rule=best)}
    regret = {
        r.agent: curves.sampled(np.cumsum(regrets, axis=1), POINTS)
        for r in all_runs
        if (regrets := r.get("regret")) is not None
    }
    if regret:
        slopes = "; ".join(filter(None, map(_slope, all_runs)))
        words = f"Cumulative regret on logarithmic axes. Growth exponents with 95 % intervals: {slopes}."
        found["regret"] = Drawing("Cumulative regret.", "cumulative regret", regret, zero=True)
        found["regret-loglog"] = Drawing(words, "cumulative regret", regret, log=True)
    for key, name, label, words in METRICS:
        lines = {r.agent: curves.sampled(v, POINTS) for r in all_runs if (v := r.get(name)) is not None}
        if lines:
            found[key] = Drawing(words, label, lines)
    return found


def _block(runs: Runs, name: str) -> FloatArray:
    rows, episodes = runs.even
    return runs.values[name][rows, :episodes]


def _slope(runs: Runs) -> str:
    regrets = runs.get("regret")
    if regrets is None:
        return ""
    fit = statistics.regret_exponent(regrets, seed=BOOTSTRAP_SEED)
    return f"{runs.agent} {number(fit.value)}" + ("" if np.isnan(fit.low) else f" ({interval(fit.low, fit.high)})")


def _sizes(all_runs: Sequence[Runs]) -> str:
    sizes = dict.fromkeys(
        f"{len(r.even[0])} seed{'s' * (len(r.even[0]) > 1)} of {r.even[1]} episodes" for r in all_runs
    )
    return " or ".join(sizes)


# --- drawing ---


def _curves(axes: Axes, drawing: Drawing, look: dict[str, Style]) -> None:
    for agent, curve in drawing.lines.items():
        style = look[agent]
        if curve.low is not None and curve.high is not None:
            floor = curve.mean[curve.mean > 0].min() / 10 if drawing.log and np.any(curve.mean > 0) else -np.inf
            low, high = np.maximum(curve.low, floor), np.maximum(curve.high, floor)
            axes.fill_between(curve.episodes, low, high, color=style.colour, alpha=0.18, linewidth=0)
        dot = "o" if len(curve.episodes) == 1 else None
        line = LINES[style.dash]
        axes.plot(curve.episodes, curve.mean, color=style.colour, linestyle=line, marker=dot, markersize=3)
    if drawing.rule is not None:
        axes.axhline(drawing.rule, color="#5b6470", linewidth=0.8, linestyle=(0, (1, 1.5)))
    axes.set_xlabel("episode")
    axes.set_ylabel(drawing.label)
    if not drawing.log:
        axes.set_xlim(left=0)
    elif any(np.any(curve.mean > 0) for curve in drawing.lines.values()):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.minorticks_off()
    if drawing.zero:
        axes.set_ylim(bottom=0)


def _iqm(scores: dict[str, dict[str, FloatArray]], look: dict[str, Style]) -> Figure:
    figure, (axes,) = _empty(1, 1, height=0.14 + 0.06 * len(scores))
    for i, (agent, by_env) in enumerate(reversed(scores.items())):
        estimate = statistics.interquartile_mean(by_env, seed=BOOTSTRAP_SEED)
        if not np.isnan(estimate.low):
            axes.plot([estimate.low, estimate.high], [i, i], color=look[agent].colour, linewidth=3, alpha=0.4)
        axes.plot([estimate.value], [i], "o", color=look[agent].colour, markersize=4)
    axes.set_yticks(range(len(scores)), [_plain(agent) for agent in reversed(scores)])
    axes.set_ylim(-0.6, len(scores) - 0.4)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("interquartile mean of final scores")
    axes.grid(axis="y", visible=False)
    return figure


def _panels(wanted: Sequence[Drawing], look: dict[str, Style], titles: Sequence[str] = ()) -> Figure:
    """One panel a drawing, and one legend for all."""
    from matplotlib.lines import Line2D

    columns = min(len(wanted), 3)
    figure, panels = _empty(-(-len(wanted) // columns), columns)
    for axes, drawing in zip(panels, wanted, strict=False):
        _curves(axes, drawing, look)
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(_plain(title), loc="left", fontweight="bold")
    for axes in panels[len(wanted) :]:
        axes.set_visible(False)
    drawn = [name for name in look if any(name in drawing.lines for drawing in wanted)]
    if len(drawn) > 1:
        looks = [look[name] for name in drawn]
        figure.legend(
            [Line2D([], [], color=s.colour, linestyle=LINES[s.dash], linewidth=1.6) for s in looks],
            [_plain(name) for name in drawn],
            loc="outside upper left",
            ncols=min(max(1, columns * 52 // (8 + max(map(len, drawn)))), len(drawn)),
            frameon=False,
            fontsize=7,
            handlelength=2.4,
            borderaxespad=0.1,
            columnspacing=1.2,
        )
    return figure


class _Shown:
    """Mixed into figures so that notebooks show them."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        save_figure(self, content)
        return content.getvalue()


def _empty(rows: int, columns: int, height: float = 0.72) -> tuple[Figure, list[Axes]]:
    """A figure of panels, each as wide as a column."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(LOOK):
        shown = type("ShownFigure", (_Shown, Figure), {})
        figure: Figure = shown(figsize=(COLUMN * columns, COLUMN * height * rows), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def _plain(name: str) -> str:
    """A name without what matplotlib would take for mathematics or hide."""
    text = name.replace("\\", "\\\\").replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def save_figure(figure: Any, target: Any) -> None:
    """Write a figure to a file, the same bytes for the same figure."""
    from matplotlib import rc_context

    pdf = isinstance(target, Path) and target.suffix == ".pdf"
    about = {"CreationDate": None} if pdf else {"Software": None}  # equal runs give equal files
    with rc_context(LOOK), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks
        figure.savefig(target, format="pdf" if pdf else "png", metadata=about)
