from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import rundirs

from cmerl import experiments
from cmerl.experiments import statistics
from cmerl.report import html, rundir, write_page
from cmerl.report.style import number


def data_of(text: str) -> dict[str, Any]:
    """What the page draws."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text).group(1))


class Structure(HTMLParser):
    """Checks that tags close in order, and collects ids, addresses and text."""

    VOID = ("meta", "link", "input", "line", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attributes if name == "id" and value]
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data.strip())


def structure(text: str) -> Structure:
    found = Structure()
    found.feed(text)
    assert not found.open
    assert len(set(found.ids)) == len(found.ids)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> rundir.RunDirectory:
    return rundir.read(rundirs.make(tmp_path_factory.mktemp("run"), seeds=4, episodes=60))


@pytest.fixture(scope="module")
def page(run) -> str:
    return html.render(run)


def test_the_page_is_whole_and_asks_for_nothing(page) -> None:
    found = structure(page)
    assert all(address.startswith(("#", "data:")) for address in found.addresses)
    assert "default-src 'none'" in page
    assert "connect-src" not in page
    packed = re.search(r'id="plotly">(.*?)</script>', page).group(1)
    assert gzip.decompress(base64.b64decode(packed)).startswith(b"/**\n* plotly.js")


def test_every_section_has_its_figures(page) -> None:
    data = data_of(page)
    kinds = {key.partition("-")[2].partition("-")[2] for key in data["figures"] if key.startswith("env-0")}
    expected = {"regret", "return", "bound", "optimism", "gain", "dictionary", "cost", "certificates", "balancing-0"}
    assert kinds == expected
    assert {"compare-iqm", "compare-improvement"} <= data["figures"].keys()
    assert set(data["figures"]) <= set(structure(page).ids)


def test_curves_are_the_means_of_what_was_run(run, page) -> None:
    figures = data_of(page)["figures"]
    for i, env in enumerate(run.envs):
        for line, runs in zip(figures[f"env-{i}-regret"]["lines"], run.of(env), strict=True):
            totals = np.cumsum(runs.values["regret"], axis=1)
            np.testing.assert_allclose(line["mean"], totals.mean(axis=0), rtol=1e-4)
            assert all(low <= m <= high for low, m, high in zip(line["low"], line["mean"], line["high"], strict=True))
        cme = run.of(env)[0]
        (optimism,) = figures[f"env-{i}-optimism"]["lines"]
        gap = (cme.values["metrics.value"] - cme.values["metrics.optimum"]).mean(axis=0)
        np.testing.assert_allclose(optimism["mean"], gap, rtol=1e-4)
        bound, measured = figures[f"env-{i}-bound"]["lines"]
        np.testing.assert_allclose(bound["mean"], cme.values["metrics.regret_bound"].mean(axis=0), rtol=1e-4)
        np.testing.assert_allclose(measured["mean"], np.cumsum(cme.values["regret"], axis=1).mean(axis=0), rtol=1e-4)


def test_broken_promises_show_and_kept_ones_stay_at_one(page) -> None:
    lines = data_of(page)["figures"]["env-0-certificates"]["lines"]
    kept, broken = (line["mean"] for line in lines)
    assert set(kept) == {1.0}
    assert broken[-4:] == [1.0, 0.75, 0.75, 0.75]  # one seed of four loses it three episodes before the end


def test_shares_of_balanced_learners_add_up(page) -> None:
    lines = data_of(page)["figures"]["env-0-balancing-0"]["lines"]
    assert {line["name"] for line in lines} == {"fast", "safe"}
    np.testing.assert_allclose(np.sum([line["mean"] for line in lines], axis=0), 1.0, atol=1e-4)


def test_table_holds_regret_exponent_threshold_and_intervals(run, page) -> None:
    words = structure(page).words
    for runs in run.runs:
        summary = statistics.summarise_regret(runs.values["regret"], optimum=3.4, seed=0)
        assert f"{number(summary.mean)} ({number(summary.low)} – {number(summary.high)})" in words
        fit = statistics.regret_exponent(runs.values["regret"], seed=0)
        assert f"{number(fit.value)} ({number(fit.low)} – {number(fit.high)})" in words
        assert any(word.startswith(number(runs.values["return"][:, -6:].mean())) for word in words)


def test_comparison_is_that_of_the_statistics(run, page) -> None:
    figures = data_of(page)["figures"]
    late = {}
    for env in run.envs:
        ends = {runs.agent: runs.values["return"][:, -6:].mean(axis=1) for runs in run.of(env)}
        worst, best = min(map(np.min, ends.values())), max(3.4, *map(np.max, ends.values()))
        for agent, values in ends.items():
            late.setdefault(agent, {})[env] = (values - worst) / (best - worst)
    for row, (agent, scores) in zip(figures["compare-iqm"]["rows"], late.items(), strict=True):
        assert row["label"] == agent
        np.testing.assert_allclose(row["value"], statistics.interquartile_mean(scores, seed=0).value, atol=1e-4)
    better = figures["compare-improvement"]["rows"]
    assert [row["label"] for row in better] == ["cme-rl over greedy", "cme-rl over random", "greedy over random"]
    expected = statistics.probability_of_improvement(late["cme-rl"], late["greedy"], seed=0).value
    np.testing.assert_allclose(better[0]["value"], expected, atol=1e-4)


def test_names_with_markup_are_text(tmp_path) -> None:
    hostile = rundirs.HOSTILE
    rundirs.make(tmp_path, envs=(hostile,), agents=(hostile, f"_$x$ {hostile}"), seeds=2, episodes=3)
    (tmp_path / "manifest.json").write_text(json.dumps({"command": hostile, "versions": {hostile: hostile}}))
    text = write_page(tmp_path).read_text(encoding="utf-8")
    assert "<script>alert" not in text
    found = structure(text)
    assert found.words.count(hostile) >= 5
    data = data_of(text)
    rows = data["figures"]["compare-iqm"]["rows"]
    for label in [agent["name"] for agent in data["agents"]] + [row["label"] for row in rows]:
        assert "<" not in label  # plotly.js reads labels as HTML


def test_long_runs_are_thinned(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("E",), agents=("a",), seeds=2, episodes=3000)
    figures = data_of(html.render(rundir.read(tmp_path)))["figures"]
    assert max(len(line["x"]) for figure in figures.values() for line in figure.get("lines", [])) <= 1000


def test_how_the_run_was_made_is_on_the_page(tmp_path, page) -> None:
    assert "cmerl run x --episodes 60" in structure(page).words
    assert "numpy" in structure(page).words
    rundirs.make(tmp_path, seeds=1, episodes=1)
    (tmp_path / "manifest.json").unlink()
    assert "The manifest does not say how this run was started." in structure(write_page(tmp_path).read_text()).words


def test_runs_without_regret_or_metrics_have_a_page_too(tmp_path) -> None:
    rows = [{**row, "regret": None, "metrics": {}} for row in rundirs.lines("E", "a", 0, 1)]
    rundirs.write(tmp_path, rows)
    text = write_page(tmp_path).read_text()
    assert set(data_of(text)["figures"]) == {"env-0-return", "env-0-cost"}
    assert "cumulative regret</th>" not in text


def test_a_run_without_episodes_has_a_page_that_says_so(tmp_path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    text = write_page(tmp_path, tmp_path / "other.html").read_text()
    assert "There are no finished episodes yet." in structure(text).words


def test_the_page_says_what_is_proven_beside_what_was_measured(tmp_path) -> None:
    settings = {"environments": ["cmerl/RiverSwim-v0"], "agents": ["psrl"], "episodes": 5, "seeds": 2, "jobs": 1}
    experiments.run(settings, out=tmp_path / "run")
    page = write_page(tmp_path / "run", tmp_path / "page.html").read_text(encoding="utf-8")
    found = re.search(r"psrl: regret proven to be at most ([\d.]+) of 100; measured: ([\d.]+)", page)
    assert found
    assert float(found[1]) >= float(found[2])
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["results"][0]["certified_regret"]["mean"] == pytest.approx(float(found[1]), abs=0.5)
