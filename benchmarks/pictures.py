"""Draw pictures of the documentation anew: the demonstration's page, CME-RL exploring a disc, and the examples' own.

python benchmarks/pictures.py [--only page|animation|examples]

needs chromium and chromium-driver for the page.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import matplotlib

matplotlib.use("Agg")  # no display needed

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from cmerl import CMERL, demo, experiments, report
from cmerl.experiments.snapshots import Grid, believe

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests" / "report"))

import browser  # noqa: E402 - the tests' own

IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1120, 1150  # of the page's picture
EPISODES, SEEDS = 60, 8
FRAMES = 45  # episodes of the animation
COLOURS = 96


def page_picture(target: Path, jobs: int, run: Path | None = None) -> None:
    """The top of a page: the demonstration's agents in its first environment, or a run that is there."""
    with tempfile.TemporaryDirectory() as folder:
        if run is None:
            first = demo.SPEC["environments"][:1]  # all that the picture has room for
            spec = {**demo.SPEC, "environments": first, "episodes": EPISODES, "seeds": SEEDS, "jobs": jobs}
            run = experiments.run(spec, out=Path(folder) / "riverswim").directory
        page = report.write_page(run, Path(folder) / "page.html")
        with browser.open_browser(Path(folder) / "profile") as driver:
            browser.size(driver, WIDTH, HEIGHT)
            browser.show(driver, page.as_uri())
            browser.picture(driver, target, whole=False)
    Image.open(target).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(target, optimize=True)


def animation(target: Path) -> None:
    """Where CME-RL goes in PBall2D and what it believes there, episode by episode."""
    env = gymnasium.make("cmerl/PBall2D-v0")
    axis = np.linspace(-1, 1, 61)
    points = Grid((axis, axis)).observations
    outside = np.linalg.norm(points, axis=1) > 1.02
    frames: list[Image.Image] = []
    paths: list[Any] = []

    def draw(agent: CMERL, record: Any) -> None:
        paths.append(np.array(agent.lesson()["observations"]))
        beliefs = believe(agent, points)
        layers = [np.where(outside, np.nan, beliefs[name]).reshape(61, 61).T for name in ("sigma", "value")]
        frames.append(frame(env, record, paths, layers))

    CMERL(env, seed=0).learn(FRAMES, callback=draw)
    times = [350] * 12 + [120] * (len(frames) - 13) + [2500]
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)


def frame(env: Any, record: Any, paths: list[Any], layers: list[Any]) -> Image.Image:
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.7), dpi=100, layout="constrained")
    titles = ("uncertainty σ", "optimistic value")
    for axes, layer, title, colours, top in zip(panels, layers, titles, ("cividis", "viridis"), (1, 30), strict=True):
        axes.imshow(layer, origin="lower", extent=(-1, 1, -1, 1), cmap=colours, vmin=0, vmax=top)
        for path in paths[:-1]:
            axes.plot(*path.T, color="white", linewidth=0.5, alpha=0.35)
        axes.plot(*paths[-1].T, color="#D55E00", linewidth=2)
        axes.add_patch(plt.Circle((0.75, 0.0), 0.25, fill=False, color="white", linestyle="--", linewidth=1))
        axes.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), xticks=[], yticks=[])
        axes.set_title(title, fontsize=10, loc="left")
        axes.axis("off")
    figure.suptitle(
        f"CME-RL in PBall2D, episode {record.episode + 1}: "
        f"return {record.ret:.1f} of {record.metrics['optimum']:.1f}",
        fontsize=11,
    )
    content = io.BytesIO()
    figure.savefig(content, format="png")
    plt.close(figure)
    image = Image.open(content).convert("RGB")
    return image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def examples() -> None:
    """The figures of the cases, and those of the notebooks, which are made anew."""
    for case in ("battery", "inventory"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(ROOT / "examples" / f"{case}.py"), "--out", folder]
            subprocess.run(command, check=True)
            shutil.copy(Path(folder) / f"{case}.png", IMAGES / f"case-{case}.png")
    subprocess.run([sys.executable, str(ROOT / "tools" / "notebooks.py"), "--pictures", str(IMAGES)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--run", type=Path, help="take the page of this run instead of a new one")
    parser.add_argument("--only", choices=("page", "animation", "examples"))
    options = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    if options.only in (None, "page"):
        page_picture(IMAGES / "report.png", options.jobs, options.run)
    if options.only in (None, "animation"):
        animation(IMAGES / "exploring.gif")
    if options.only in (None, "examples"):
        examples()


if __name__ == "__main__":
    main()
