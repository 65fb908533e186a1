"""The exploration account on the page: what exploring cost, and what it bought."""

from __future__ import annotations

import numpy as np
import pytest
import rundirs
from pages import data_of

from cmerl.report import html, rundir, write_page
from cmerl.report.account import ExplorationAccount

RETURNS, CHARGES = [[-10.0, -4.0, -3.0], [-8.0, -8.0, 2.0]], [[None, 0.5, 0.25], [None, 0.0, 1.25]]


def rows() -> list[dict]:
    found = []
    for seed in range(2):
        for row in rundirs.lines("E", "agent", seed, 3, rich=False):
            e = row["episode"]
            charge = CHARGES[seed][e]
            metrics = {} if charge is None else {"exploration_cost": charge, "promised": 1.0}
            found.append({**row, "return": RETURNS[seed][e], "regret": None, "metrics": metrics})
    return found


def test_both_sides_add_up_over_episodes(tmp_path) -> None:
    rundirs.write(tmp_path, rows())
    (runs,) = rundir.read(tmp_path).of("E")
    account = ExplorationAccount.of(runs)
    assert account is not None
    np.testing.assert_allclose(account.cost, [[0.0, 0.5, 0.75], [0.0, 0.0, 1.25]])
    np.testing.assert_allclose(account.bought, [[0.0, 6.0, 13.0], [0.0, 0.0, 10.0]])
    assert "exploration has cost 1 by its own account" in account.words("agent")
    assert "returned 11.5 more than if each had been like the first" in account.words("agent")
    assert "2 500 less" in ExplorationAccount(account.cost, np.array([[-2500.0]])).words("agent")


def test_the_page_shows_the_account_in_words_and_as_curves(tmp_path) -> None:
    rundirs.write(tmp_path, rows())
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert "agent: exploration has cost 1 by its own account" in page
    lines = data_of(page)["figures"]["env-0-account"]["lines"]
    assert [line["suffix"] for line in lines] == [", cost", ", gain"]
    assert lines[0]["mean"] == pytest.approx([0.0, 0.25, 1.0])
    assert lines[1]["mean"] == pytest.approx([0.0, 3.0, 11.5])


def test_agents_without_an_account_have_none(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("E",), agents=("a",), seeds=1, episodes=3)
    page = html.render(rundir.read(tmp_path))
    assert "env-0-account" not in data_of(page)["figures"]
    assert "exploration has cost" not in page
