"""Records of a journal are what a run writes, or are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cmerl import experiments
from cmerl.errors import InputError
from cmerl.experiments.journal import split
from cmerl.experiments.packing import unpack
from cmerl.experiments.records import check_records


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    out = tmp_path_factory.mktemp("runs") / "run"
    results = experiments.run("cmerl/RiverSwim-v0", agents=["random"], episodes=2, seeds=1, jobs=1, out=out)
    return results.units[0], next((out / "journals").iterdir())


def test_what_a_run_wrote_is_taken(journal: tuple[Any, Path]) -> None:
    unit, path = journal
    records = [unpack(payload) for payload in split(path.read_bytes())]
    assert [record["line"]["episode"] for record in check_records(unit, records) if "line" in record] == [0, 1]


@pytest.mark.parametrize("bound", [{"a": 1}, [1.0], "much"])
def test_a_certified_bound_that_is_no_number_is_refused(journal: tuple[Any, Path], bound: object) -> None:
    """Summaries and ledgers go on from it."""
    unit, path = journal
    records = [unpack(payload) for payload in split(path.read_bytes())]
    records[2]["line"]["metrics"]["certified_regret"] = bound
    with pytest.raises(InputError, match="episode 1: certified_regret"):
        check_records(unit, records)
