from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.experiments.statistics import RegretSummary, mean_curve
from cmerl.report import page
from cmerl.report.figures import COLOURS, styles
from cmerl.report.results import MOST_POINTS, AgentRuns, WorldRuns

HOSTILE = "<script>alert('cmerl')</script>&\"x\""


def world(
    name: str = "somewhere", agents: tuple[str, ...] = ("a", "b"), episodes: int = 30, seeds: int = 3
) -> WorldRuns:
    rng = np.random.default_rng(0)
    runs = tuple(AgentRuns(agent, rng.random((seeds, episodes)), 0.0125) for agent in agents)
    return WorldRuns(name, horizon=20, optimum=3.397, random_loss=3.353, agents=runs)


def render(*worlds: WorldRuns, **options: object) -> str:
    given = {"title": "a title", "command": "python -m something", "versions": {"numpy": "2.0"}, **options}
    return page.render(worlds, **given)


def figures(text: str) -> list[dict[str, object]]:
    return json.loads(re.search(r"^const figures = (.*);$", text, re.MULTILINE)[1])


class Loads(HTMLParser):
    """Everything that a browser would fetch, and the tags seen."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "data", "action", "poster")]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] != "script":
            self.text.append(data)


def test_page_loads_nothing() -> None:
    text = render(world())
    assert Loads(text).fetched == []
    styles_only = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in styles_only
    assert "@import" not in styles_only
    assert "default-src 'none'" in text  # browsers enforce it, whatever plotly.js may try


def test_page_says_what_a_reader_needs() -> None:
    text = render(world("RiverSwim-6"), world("GridWorld-5x5"), notes=["about the agents"])
    shown = " ".join(Loads(text).text)
    for words in ("a title", "RiverSwim-6", "GridWorld-5x5", "3.397", "3.353", "30 episodes", "3 seeds", "12.5"):
        assert words in shown
    for words in ("python -m something", "numpy", "2.0", "about the agents"):
        assert words in shown


def test_whatever_users_name_is_text_and_not_markup() -> None:
    text = render(world(HOSTILE, (HOSTILE, "b")), title=HOSTILE, command=HOSTILE, versions={HOSTILE: HOSTILE})
    plain = render(world())
    assert "alert('cmerl')</script>" not in text
    assert Loads(text).tags.count("script") == Loads(plain).tags.count("script") == 2
    assert HOSTILE in "".join(Loads(text).text)
    # plotly.js reads names as HTML too: they reach it escaped.
    assert figures(text)[0]["curves"][0]["name"].startswith("&lt;script&gt;")


def test_curves_are_mean_cumulative_regrets() -> None:
    results = world(episodes=40)
    for drawn, runs in zip(figures(render(results))[0]["curves"], results.agents, strict=True):
        mean, low, high = mean_curve(runs.regrets.cumsum(axis=1), seed=0)
        assert drawn["x"] == list(range(1, 41))
        np.testing.assert_allclose(drawn["mean"], mean, rtol=1e-5)
        np.testing.assert_allclose(drawn["low"], low, rtol=1e-5)
        np.testing.assert_allclose(drawn["high"], high, rtol=1e-5)


def test_long_runs_are_drawn_with_few_points() -> None:
    results = world(episodes=20_000, agents=("a",), seeds=2)
    (drawn,) = figures(render(results))[0]["curves"]
    assert len(drawn["x"]) == len(drawn["mean"]) <= MOST_POINTS
    assert (drawn["x"][0], drawn["x"][-1]) == (1, 20_000)
    assert drawn["mean"][-1] == pytest.approx(results.agents[0].regrets.sum(axis=1).mean(), rel=1e-5)


def test_one_seed_has_no_band() -> None:
    text = render(world(seeds=1))
    assert figures(text)[0]["curves"][0]["low"] is None
    assert "NaN" not in re.search(r"^const figures = .*$", text, re.MULTILINE)[0]
    assert "nan" not in " ".join(Loads(text).text)


def test_an_agent_looks_the_same_in_every_world() -> None:
    first, second = figures(render(world(agents=("a", "b")), world(agents=("b", "c"))))
    assert first["curves"][1]["colour"] == second["curves"][0]["colour"]
    assert first["curves"][0]["colour"] != second["curves"][1]["colour"]


def test_styles_stay_distinct_when_colours_run_out() -> None:
    many = styles([str(i) for i in range(30)])
    assert len(COLOURS) == 7
    assert len(set(many.values())) == 30


def test_same_results_give_the_same_page() -> None:
    assert render(world()) == render(world())


def test_writing_replaces_the_old_page(tmp_path) -> None:
    path = tmp_path / "index.html"
    path.write_text("old")
    assert page.write(path, "new ½") == path
    assert path.read_text(encoding="utf-8") == "new ½"
    assert [p.name for p in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00"),
        (0.031, "0.03"),
        (9.554, "9.55"),
        (9.996, "10.0"),
        (71.94, "71.9"),
        (99.96, "100"),
        (12345.6, "12346"),
    ],
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert page.format_number(value) == shown


def test_intervals_and_stuck_seeds_are_shown_as_people_say_them() -> None:
    summary = RegretSummary(mean=10.0, low=8.0, high=12.0, worst=13.0, stuck=1 / 3)
    assert page.format_interval(summary) == "8.00 – 12.0"
    assert page.format_stuck(summary, 6) == "2 of 6"


def test_missing_libraries_are_named(monkeypatch) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    with pytest.raises(page.MissingExtraError, match=r"jinja2 and plotly: pip install 'cmerl\[report\]'"):
        render(world())


def test_results_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        AgentRuns("a", np.zeros(3), 0.0)
    with pytest.raises(InputError, match="no agents"):
        WorldRuns("w", 20, 1.0, 1.0, ())
