from __future__ import annotations

import numpy as np
import pytest
import rundirs

from cmerl.errors import InputError
from cmerl.report import paper, plot, rundir, write_figures


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> rundir.RunDirectory:
    return rundir.read(rundirs.make(tmp_path_factory.mktemp("run"), envs=("E/1",), seeds=3, episodes=20))


def test_every_figure_comes_as_pdf_and_png_with_a_caption(run, tmp_path) -> None:
    written = paper.write_figures(run, tmp_path / "deep" / "figures")
    stems = ["return", "regret", "regret-loglog", "gain", "dictionary"]
    names = [f"e-1-{stem}" for stem in stems] + ["together-iqm"]
    assert sorted(p.name for p in written) == sorted(
        [*(f"{n}.pdf" for n in names), *(f"{n}.png" for n in names), "captions.txt"]
    )
    for path in written:
        start = {".pdf": b"%PDF-", ".png": b"\x89PNG", ".txt": b"e-1-"}[path.suffix]
        assert path.read_bytes().startswith(start)
    captions = written[-1].read_text()
    for name in names:
        assert captions.count(f"{name}: ") == 1
    assert "3 seeds of 20 episodes" in captions
    assert "Growth exponents with 95 % intervals: cme-rl 0." in captions


def test_figures_are_as_wide_as_a_column_and_equal_runs_give_equal_files(run, tmp_path) -> None:
    for _, _, figure in paper.figures(run):
        assert figure.get_size_inches()[0] == paper.COLUMN
    (_, _, figure), *_ = paper.figures(run)
    for suffix in (".pdf", ".png"):
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        paper.save_figure(figure, first)
        paper.save_figure(paper.figures(run)[0][2], second)
        assert first.read_bytes() == second.read_bytes()


def test_lines_are_the_curves_of_the_run(run) -> None:
    figures = {name: figure for name, _, figure in paper.figures(run)}
    (axes,) = figures["e-1-regret"].axes
    for line, runs in zip(axes.get_lines(), run.runs, strict=True):
        np.testing.assert_allclose(line.get_ydata(), np.cumsum(runs.values["regret"], axis=1).mean(axis=0))
    assert axes.get_ylabel() == "cumulative regret"
    assert figures["e-1-regret-loglog"].axes[0].get_xscale() == "log"
    assert figures["e-1-dictionary"].axes[0].get_ylabel() == "dictionary size"


def test_names_that_look_like_mathematics_or_private_are_drawn(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("$E_1", "日本"), agents=("_a", r"$\frac$"), seeds=2, episodes=3)
    names = {p.stem for p in write_figures(tmp_path, tmp_path / "figures")}
    assert {"1-e-1-regret", "2-world-regret"} <= names


def test_plot_shows_every_environment_in_a_notebook(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("E", "F"), seeds=2, episodes=4)
    figure = plot(tmp_path)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["E", "F"]
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_nothing_to_draw_gets_one_sentence(tmp_path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="has no finished episodes to draw"):
        write_figures(tmp_path, tmp_path / "figures")
    with pytest.raises(InputError, match="has no finished episodes to draw"):
        plot(tmp_path)
