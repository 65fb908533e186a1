"""Summaries: means over seeds, and totals that are kept episode by episode."""

from __future__ import annotations

import pytest

from cmerl import experiments
from cmerl.experiments.summary import Totals, summarise


def test_the_summary_is_the_mean_over_seeds(one_job: experiments.Results) -> None:
    summary = one_job.summary()
    assert summary["finished"]
    assert one_job.finished
    assert len(summary["results"]) == 4
    for row in summary["results"]:
        lines = [line for line in one_job.episodes if (line["env"], line["agent"]) == (row["env"], row["agent"])]
        assert row["episodes"] == 6
        assert row["episodes_total"] == len(lines) == 12
        assert row["return"]["mean"] == pytest.approx(sum(line["return"] for line in lines) / 12)
        assert row["cumulative_regret"]["mean"] == pytest.approx(sum(line["regret"] for line in lines) / 2)
        assert row["return"]["low"] <= row["return"]["mean"] <= row["return"]["high"]
        assert row["seconds_per_episode"] == pytest.approx(sum(line["seconds"] for line in lines) / 12)


def line(ret: float, regret: float | None, seconds: float = 0.5, **metrics: float) -> dict[str, object]:
    return {"return": ret, "regret": regret, "seconds": seconds, "metrics": metrics}


def totals(*lines: dict[str, object]) -> Totals:
    found = Totals()
    for each in lines:
        found.add(each)
    return found


def test_totals_are_sums_and_regret_is_unknown_once_an_episode_had_none() -> None:
    found = totals(line(1.0, 0.5), line(3.0, 0.25, certified_regret=9.0))
    assert found == Totals(2, 4.0, 0.75, 1.0, 3.0, 9.0)
    found.add(line(2.0, None))
    found.add(line(2.0, 0.5))
    assert (found.regret, found.certified, found.best) == (None, None, 3.0)  # the last episode certifies nothing


def test_seeds_that_have_not_begun_count_for_nothing_but_the_fewest_episodes() -> None:
    first, second = totals(line(1.0, 1.0), line(3.0, 1.0)), totals(line(4.0, 5.0))
    found = summarise("world", "agent", [first, second, Totals()])
    assert (found["seeds"], found["episodes"], found["episodes_total"]) == (3, 0, 3)
    assert found["return"]["mean"] == pytest.approx((2.0 + 4.0) / 2)
    assert found["cumulative_regret"]["mean"] == pytest.approx((2.0 + 5.0) / 2)
    assert (found["best_return"], found["seconds_per_episode"]) == (4.0, 0.5)
    assert found["certified_regret"] is None
    alone = summarise("world", "agent", [first])["return"]
    assert alone == {"mean": 2.0, "low": None, "high": None}  # one seed has no interval
    nobody = summarise("world", "agent", [Totals()])
    assert nobody["return"] is nobody["best_return"] is nobody["seconds_per_episode"] is None
