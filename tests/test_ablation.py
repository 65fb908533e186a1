"""Every number of the default agent has a row in the ablation, and every row can be played."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cmerl.agents import Settings

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield __import__("ablation")
    sys.modules.pop("ablation", None)


def names(part: Any, before: str = "") -> Iterator[str]:
    """Every number of nested settings, by its name with dots."""
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if dataclasses.is_dataclass(value):
            yield from names(value, f"{before}{field.name}.")
        else:
            yield f"{before}{field.name}"


def test_every_setting_has_a_row_and_no_row_is_about_another(ablation: Any) -> None:
    covered = set().union(*(rule.fields for rule in ablation.RULES.values()))
    assert covered == set(names(Settings()))


def test_every_row_changes_the_agent_on_three_tasks(ablation: Any) -> None:
    for name, rule in ablation.RULES.items():
        assert len(rule.tasks) >= 3, name
        for task in rule.tasks:
            given = rule.given(ablation.TASKS[task])
            assert given["settings"] != Settings() or rule.options, name
