"""Reports of searches: trials by improvement, and what is no finished search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cmerl.errors import InputError
from cmerl.report.tuned import search_in

TRIED = [
    {"trial": 0, "options": {"lam": 1.0}, "improvement": -0.05},
    {"trial": 1, "options": {"lam": 2.0}, "improvement": None},
    {"trial": 2, "options": {"lam": 0.5}, "improvement": 0.123},
]
FOUND: dict[str, Any] = {
    "run": "final",
    "tried": TRIED,
    "trial": 2,
    "options": {"lam": 0.5},
    "verdicts": ["chain: better"],
}


def written(path: Path, found: Any) -> Path:
    (path / "tune.json").write_text("{}")
    (path / "tuned.json").write_text(json.dumps(found))
    return path


def test_trials_come_with_the_best_first_and_failures_last(tmp_path: Path) -> None:
    search = search_in(written(tmp_path, FOUND))
    assert search is not None
    assert search.run == tmp_path / "final"
    assert search.trials == [
        ("3", '{"lam": 0.5}', "+12.3%"),
        ("1", '{"lam": 1.0}', "−5.0%"),
        ("2", '{"lam": 2.0}', "failed"),
    ]
    assert search.verdicts == ["chain: better", 'Best options: {"lam": 0.5}.']


def test_where_nothing_beat_the_default_it_is_said(tmp_path: Path) -> None:
    search = search_in(written(tmp_path, {**FOUND, "trial": None}))
    assert search is not None
    assert search.verdicts[-1] == "Nothing beat the default."


def test_the_run_lies_inside_the_directory_whatever_the_file_says(tmp_path: Path) -> None:
    search = search_in(written(tmp_path, {**FOUND, "run": "../../etc/passwd"}))
    assert search is not None
    assert search.run == tmp_path / "passwd"


def test_what_is_no_finished_search_is_none_or_refused(tmp_path: Path) -> None:
    assert search_in(tmp_path) is None
    (tmp_path / "tune.json").write_text("{}")
    with pytest.raises(InputError, match="is not finished: run cmerl tune again"):
        search_in(tmp_path)
    for damaged in ({**FOUND, "tried": [{}]}, {**FOUND, "verdicts": 3}, {}):
        with pytest.raises(InputError, match="is damaged"):
            search_in(written(tmp_path, damaged))
