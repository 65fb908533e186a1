"""Draw docs/images/regret.png: the regret curves of the demonstration's agents.

python benchmarks/readme_picture.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no display needed

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from cmerl.demo import run_all
from cmerl.report.figures import Style, styles
from cmerl.report.results import WorldRuns

TARGET = Path(__file__).parents[1] / "docs" / "images" / "regret.png"
LINES = {"solid": "-", "dash": (0, (5, 2)), "dot": (0, (1.2, 1.2)), "dashdot": "-."}
TEXT, GRID = "#1c2024", "#e2e5e9"


def panel(axes: Axes, world: WorldRuns, style: dict[str, Style]) -> None:
    for runs in world.agents:
        look, curve = style[runs.name], runs.curve
        axes.fill_between(curve.episodes, curve.low, curve.high, color=look.colour, alpha=0.16, linewidth=0)
        axes.plot(curve.episodes, curve.mean, color=look.colour, linestyle=LINES[look.dash], linewidth=2)
    label(axes, world, style)
    axes.set_title(world.name, loc="left", fontsize=11, fontweight="bold", color=TEXT)
    axes.set_xlabel("episode", color=TEXT)
    axes.set_xlim(0, world.agents[0].episodes)
    axes.set_ylim(0)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=TEXT, labelsize=9)


def label(axes: Axes, world: WorldRuns, style: dict[str, Style]) -> None:
    """Names at the ends of the curves, moved apart where they would overlap."""
    top = axes.get_ylim()[1]
    below = -0.07 * top
    for runs in sorted(world.agents, key=lambda runs: runs.curve.mean[-1]):
        below = max(float(runs.curve.mean[-1]), below + 0.07 * top)
        axes.annotate(
            runs.name,
            (1, below),
            (5, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=style[runs.name].colour,
            fontweight="bold",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    worlds = run_all(episodes=options.episodes, seeds=options.seeds, jobs=options.jobs)
    style = styles([runs.name for runs in worlds[0].agents])
    figure, panels = plt.subplots(1, len(worlds), figsize=(10, 3.4), dpi=160, layout="constrained")
    for axes, world in zip(panels, worlds, strict=True):
        panel(axes, world, style)
    panels[0].set_ylabel(f"cumulative regret\n(mean of {options.seeds} seeds, 95 % band)", color=TEXT)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, metadata={"Software": None})
    print(options.out)


if __name__ == "__main__":
    main()
