"""The section of an environment: figures that it has, and curves that are what was run."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import rundirs
from pages import data_of, structure

from cmerl import experiments
from cmerl.report import write_page


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


def test_runs_without_regret_or_metrics_have_a_page_too(tmp_path) -> None:
    rows = [{**row, "regret": None, "metrics": {}} for row in rundirs.lines("E", "a", 0, 1)]
    rundirs.write(tmp_path, rows)
    text = write_page(tmp_path).read_text()
    assert set(data_of(text)["figures"]) == {"env-0-return", "env-0-cost"}
    assert "cumulative regret</th>" not in text


def test_the_page_says_what_is_proven_beside_what_was_measured(tmp_path) -> None:
    settings = {"environments": ["cmerl/RiverSwim-v0"], "agents": ["psrl"], "episodes": 5, "seeds": 2, "jobs": 1}
    experiments.run(settings, out=tmp_path / "run")
    page = write_page(tmp_path / "run", tmp_path / "page.html").read_text(encoding="utf-8")
    found = re.search(r"psrl: regret proven to be at most ([\d.]+) of 100; measured: ([\d.]+)", page)
    assert found
    assert float(found[1]) >= float(found[2])
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["results"][0]["certified_regret"]["mean"] == pytest.approx(float(found[1]), abs=0.5)
