"""A run at the terminal: its table, what few seeds are worth, and units that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_the_table_fits_a_narrow_terminal_and_says_what_few_seeds_are_worth() -> None:
    from cmerl.cli.session import few_seeds, table

    estimate = {"mean": 1234.5, "low": 1200.25, "high": 1300.75}
    row = {"env": "cmerl/RiverSwim-v0", "agent": "cme-rl", "seeds": 3, "episodes": 100, "return": estimate}
    summary = {"results": [{**row, "cumulative_regret": None, "seconds_per_episode": 0.0123}]}
    assert len(table(summary).splitlines()) == 2
    assert table(summary, 120) == table(summary)
    narrow = table(summary, 60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.splitlines() == [
        "cmerl/RiverSwim-v0 · cme-rl",
        "  seeds              3",
        "  episodes           100",
        "  mean return        1234 [1200, 1301]",
        "  s / episode        0.0123",
    ]
    assert "too narrow" in few_seeds(summary)
    for seeds in (1, 6):  # one has no interval, six have a good one
        summary["results"][0]["seeds"] = seeds
        assert few_seeds(summary) == ""


def test_a_unit_that_fails_is_told_and_the_exit_code_is_1(tmp_path: Path, call: Any) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'environments = ["cmerl/Chain-v0"]\nepisodes = 3\njobs = 1\n'
        '[[agents]]\nname = "cme-rl"\nlabel = "narrow"\noptions = {reward_range = [0, 1e-9]}\n'
    )
    code, _, err = call("run", spec, "--out", tmp_path / "run")
    assert code == 1
    assert "cmerl: cmerl/Chain-v0 · narrow · seed 0 failed: episode 0, step" in err
    assert "Traceback" not in err
