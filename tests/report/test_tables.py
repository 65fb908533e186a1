"""The table of an environment: regret, exponents and thresholds are those of the statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rundirs
from pages import structure

from cmerl.experiments import statistics
from cmerl.report import rundir, tables
from cmerl.report.style import number


def test_table_holds_regret_exponent_threshold_and_intervals(run, page) -> None:
    words = structure(page).words
    for runs in run.runs:
        summary = statistics.summarise_regret(runs.values["regret"], optimum=3.4, seed=0)
        assert f"{number(summary.mean)} ({number(summary.low)} – {number(summary.high)})" in words
        fit = statistics.regret_exponent(runs.values["regret"], seed=0)
        assert f"{number(fit.value)} ({number(fit.low)} – {number(fit.high)})" in words
        assert any(word.startswith(number(runs.values["return"][:, -6:].mean())) for word in words)


def one_agent(path: Path, returns: list[list[float]], regret: float | None = None, **metrics: float) -> rundir.Runs:
    """Runs of one agent: a list of returns for each seed."""
    rows = [
        {
            **rundirs.lines("E", "a", seed, len(found), rich=False)[e],
            "return": value,
            "regret": regret,
            "metrics": metrics,
        }
        for seed, found in enumerate(returns)
        for e, value in enumerate(found)
    ]
    rundirs.write(path, rows)
    (runs,) = rundir.read(path).of("E")
    return runs


def test_scores_lie_between_the_worst_run_and_the_best_possible(tmp_path: Path) -> None:
    runs = one_agent(tmp_path, [[0.0] * 9 + [2.0], [0.0] * 9 + [6.0]], optimum=10.0)
    np.testing.assert_allclose(tables.late_returns(runs), [2.0, 6.0])  # the last tenth
    to = tables.scale([runs])
    assert (to.worst, to.best, to.optimum) == (2.0, 10.0, 10.0)
    assert to.goal == pytest.approx(2.0 + 0.8 * 8.0)
    np.testing.assert_allclose(to.score(np.array([2.0, 6.0, 10.0])), [0.0, 0.5, 1.0])
    assert tables.about([runs], to, 20) == (
        "10 of 20 episodes, 2 seeds. The best possible return of an episode on average, V*, is 10.0."
    )


def test_where_all_runs_are_equal_everyone_has_learned(tmp_path: Path) -> None:
    runs = one_agent(tmp_path, [[1.0]])
    to = tables.scale([runs])
    np.testing.assert_array_equal(to.score(np.array([1.0])), [1.0])
    assert tables.about([runs], to) == "1 episode, 1 seed."
    row = tables.row(runs, to)
    assert (row.regret, row.exponent, row.stuck, row.reached) == ("–", "–", "–", "–")  # nothing is known of them


def test_the_episode_that_reaches_the_goal_is_told_and_failures_are_counted(tmp_path: Path) -> None:
    returns = [[0.0] * 5 + [1.0] * 15, [0.0] * 9 + [1.0] * 11]
    runs = one_agent(tmp_path, returns, regret=0.1, optimum=1.0)
    to = tables.Scale(0.0, 1.0, 1.0)
    row = tables.row(runs, to, failed=1)
    assert (row.runs, row.failed, row.stuck) == ("2 × 20", "1 failed", "0 of 2")
    assert row.regret == "2.00"
    assert row.reached == "8"  # the median of 6 and 10
    never = tables.row(runs, tables.Scale(0.0, 9.0, None))
    assert never.reached == "not yet"
    lost = tables.row(runs, tables.Scale(0.0, 1.0, 0.2))
    assert lost.stuck == "2 of 2"
    assert lost.stuck_any
