"""Regret curves as data for plotly.js: plain lists and dictionaries, no styling that depends on the theme."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cmerl.report.results import AgentRuns, WorldRuns


class Style(NamedTuple):
    """How one agent is drawn, in every world alike: a colour and a dash, either of which tells it apart."""

    colour: str
    dash: str


# Okabe and Ito's colours, told apart by colour-blind people too; the pale ones last, they are faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def styles(names: list[str]) -> dict[str, Style]:
    """A style for each name; 35 of them differ."""
    return {name: Style(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]) for i, name in enumerate(names)}


def regret_figure(world: WorldRuns, style: dict[str, Style]) -> dict[str, Any]:
    """Cumulative regret over episodes: for each agent the mean, its band, and how to draw them."""
    return {
        "label": f"cumulative regret over episodes in {world.name}",
        "curves": [_curve(runs, style[runs.name]) for runs in world.agents],
    }


def _curve(runs: AgentRuns, style: Style) -> dict[str, Any]:
    curve = runs.curve
    single = runs.seeds == 1
    return {
        "name": escape(runs.name),  # plotly.js reads names as HTML
        "colour": style.colour,
        "dash": style.dash,
        "x": curve.episodes.tolist(),
        "mean": _numbers(curve.mean),
        "low": None if single else _numbers(curve.low),
        "high": None if single else _numbers(curve.high),
    }


def _numbers(values: NDArray[np.float64]) -> list[float]:
    """Six significant digits: more cannot be seen, and pages stay small."""
    return [float(f"{value:.6g}") for value in values]
