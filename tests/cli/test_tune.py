"""`cmerl tune`: which seeds were for what."""

from __future__ import annotations

import json

import pytest
from small_runs import SEARCH, InThisProcess

import cmerl.cli
from cmerl.cli.tune import summary
from cmerl.experiments import engines, tuning


def test_the_command_says_which_seeds_were_for_what(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(engines, "make", lambda *args, **options: InThisProcess())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.json").write_text(json.dumps(SEARCH))
    with pytest.raises(SystemExit) as end:
        cmerl.cli.main(["tune", "small.json", "--trials", "2"])
    said = capsys.readouterr().out
    assert end.value.code == 0
    assert "2 trials on seeds 6, 7" in said
    assert "best options (trial" in said
    assert "against the default on seeds 0–5, none of which was tuned on" in said
    assert "chain: no better than the default, p = " in said
    assert "(cumulative regret improved by " in said

    assert (tmp_path / "runs" / "small-tuned" / "study.db").exists()
    pytest.importorskip("plotly")
    with pytest.raises(SystemExit) as end:
        cmerl.cli.main(["report", "runs/small-tuned"])
    assert end.value.code == 0
    page = (tmp_path / "runs" / "small-tuned" / "report.html").read_text(encoding="utf-8")
    assert "search small-tuned · " in page
    assert "Settings that were tried" in page
    assert "chain: no better than the default" in page


def test_seeds_that_follow_one_another_are_a_range_and_failures_are_counted(tmp_path) -> None:
    found = tuning.Tuned({}, None, 5, 2, "regret", [3, 4], [0, 1, 2], (), tmp_path)
    assert summary(found).splitlines() == [
        "5 trials on seeds 3, 4, 2 failed",
        "nothing beat the default",
        f"everything in {tmp_path}",
    ]
    found = tuning.Tuned({"lam": 0.5}, 0, 5, 0, "regret", [7, 8, 9], [0, 2, 3], (), tmp_path)
    assert summary(found).splitlines()[:3] == [
        "5 trials on seeds 7–9",
        'best options (trial 1): {"lam": 0.5}',
        "against the default on seeds 0, 2, 3, none of which was tuned on:",
    ]


def test_an_interrupt_says_how_to_go_on(call, monkeypatch) -> None:
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "tune", stopped)
    assert call("tune", "small.json") == (130, "", "stopped; run the same command to continue\n")
