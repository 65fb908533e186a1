"""Verdicts: who is said to win must win, and what is not sure is said not to be."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import rundirs

from cmerl.experiments.statistics import holm, paired_difference
from cmerl.report import rundir, write_page
from cmerl.report.verdict import seeds_needed, verdict


def made(path: Path, regrets: dict[str, list[float]]) -> rundir.RunDirectory:
    """A run of one episode a seed, whose regrets are given."""
    path.mkdir()
    rows = [
        {**rundirs.lines("world", agent, seed, 1, rich=False)[0], "regret": regret}
        for agent, found in regrets.items()
        for seed, regret in enumerate(found)
    ]
    rundirs.write(path, rows)
    return rundir.read(path)


def test_the_winner_is_named_with_its_lead_and_a_corrected_p(tmp_path: Path) -> None:
    regrets = {"a": [1.0, 1.1, 0.9, 1.0, 1.2, 0.8, 1.0], "b": [5.0, 5.2, 4.9, 5.1, 5.0, 5.3, 4.8], "c": [1.1] * 7}
    found = verdict(made(tmp_path / "run", regrets))
    order = [("a", "b"), ("a", "c"), ("b", "c")]
    single = [paired_difference(regrets[x], regrets[y], seed=0).p_value for x, y in order]
    adjusted = dict(zip(order, holm(single), strict=True))
    by_pair = {(pair.better, pair.other): pair for pair in found.pairs}
    assert set(by_pair) == {("a", "b"), ("a", "c"), ("c", "b")}
    assert by_pair["a", "b"].p == f"{adjusted['a', 'b']:.2g}"
    assert by_pair["a", "b"].sure
    assert not by_pair["a", "c"].sure
    assert by_pair["a", "b"].by == "4.04"
    (sentence,) = found.sentences
    assert sentence.startswith("world: a is ahead with regret 1.00. It beats b (by 4.04")
    assert "With 7 seeds its lead of 0.10 over c is not significant" in sentence


def test_the_seeds_that_would_tell_are_those_of_the_normal_approximation() -> None:
    rng = np.random.default_rng(0)
    gaps = rng.normal(size=20)
    gaps = (gaps - gaps.mean()) / gaps.std(ddof=1)  # mean 0, deviation 1
    assert seeds_needed(gaps + 0.5) == math.ceil((1.959964 + 0.8416212) ** 2 / 0.25)
    assert seeds_needed(gaps[:3] * 0.0 + 1.0) is not None
    assert seeds_needed(np.array([1.0, 1.01, 0.99])) == 6  # the exact test cannot reject with fewer
    assert seeds_needed(gaps + 0.001) is None  # nobody runs a million seeds
    assert seeds_needed(np.zeros(4)) is None


def test_the_power_of_so_many_seeds_is_what_was_promised() -> None:
    """An oracle by simulation: with as many seeds as advised, four of five runs tell."""
    rng = np.random.default_rng(1)
    sample = rng.normal(size=12)
    sample = (sample - sample.mean()) / sample.std(ddof=1) + 0.9
    count = seeds_needed(sample)
    assert count is not None
    draws = rng.normal(0.9, 1.0, size=(200, count))
    told = np.mean([paired_difference(row, np.zeros(count), seed=0).p_value < 0.05 for row in draws])
    assert 0.7 < told < 0.9


def test_a_run_that_failed_says_so_at_the_top(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    path = rundirs.make(tmp_path / "run", envs=("world",), agents=("cme-rl",), seeds=2, episodes=1)
    failures = [
        {
            "env": "world",
            "agent": "cme-rl",
            "seed": seed,
            "episodes": 1,
            "message": "the PLC is gone",
            "where": "a.py",
        }
        for seed in range(2)
    ]
    units = {"total": 2, "finished": 0, "failed": 2}
    (path / "summary.json").write_text(json.dumps({"finished": False, "failures": failures, "units": units}))
    spec = {"episodes": 12, "allow_env_modules": ["plant"]}
    manifest = {"spec": spec, "created": "2026-01-02T03:04:05+00:00", "versions": {"cmerl": "0.2.0"}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    page = write_page(path).read_text(encoding="utf-8")
    assert "2 of 2 runs failed: the tracebacks are in" in page
    assert "--allow-env-module plant goes on" in page
    assert "world, after 1 of 12 episodes: cme-rl has" in page
    assert "world · cme-rl · seeds 0, 1 failed: the PLC is gone" in page
    assert "<code>a.py</code>" in page
    assert "1 of 12 episodes, 2 seeds." in page
    assert "(2 failed)" in page
    assert '<td data-label="episodes to learn it">–</td>' in page
    assert "run run · 2026-01-02 03:04 UTC · cmerl 0.2.0" in page


def test_headings_are_explained(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    page = write_page(rundirs.make(tmp_path / "run")).read_text(encoding="utf-8")
    for name in ("cumulative regret", "growth exponent", "information gain", "interquartile mean", "p"):
        assert f'tabindex="0">{name}</abbr>' in page
