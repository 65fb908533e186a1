"""A worker of the Ray engine, without a cluster: its messages, its failures and its versions."""

from __future__ import annotations

from typing import Any

import pytest

from cmerl.experiments.engines.ray_worker import play_in_worker, versions
from cmerl.experiments.journal import FileJournal
from cmerl.experiments.packing import unpack
from cmerl.experiments.spec import parse
from cmerl.experiments.units import Unit, play, units_of


@pytest.fixture
def unit() -> Unit:
    spec = {"environments": ["cmerl/RiverSwim-v0"], "agents": ["cme-rl"], "episodes": 5, "seeds": 1}
    (found,) = units_of(parse(spec))
    return found


def messages_of(unit: Unit, so_far: list[bytes]) -> tuple[list[bytes], list[dict[str, Any]]]:
    """Records that a worker sends, and its other messages."""
    messages = list(play_in_worker(unit, so_far, versions(), []))
    records = [record for message in messages for record in message.get("records", [])]
    return records, [message for message in messages if "records" not in message]


def test_a_worker_sends_what_a_file_would_hold_and_goes_on_from_any_part_of_it(unit, tmp_path) -> None:
    with FileJournal(tmp_path / "whole") as journal:
        report = play(unit, journal)
    with FileJournal(tmp_path / "whole") as journal:
        whole = [_timeless(record) for record in journal.records()]
    sent, others = messages_of(unit, [])
    assert [_timeless(record) for record in sent] == whole
    assert others == [{"report": report}]
    rest, others = messages_of(unit, sent[:3])
    assert [_timeless(record) for record in rest] == whole[3:]
    assert others == [{"report": report}]


def _timeless(record: bytes) -> str:
    found = unpack(record)
    if "line" in found:
        found["line"]["seconds"] = 0
    return repr(found)


def test_what_a_failing_worker_logs_reaches_the_driver(unit) -> None:
    broken = unit.model_copy(update={"agent": unit.agent.model_copy(update={"options": {"lam": -1.0}})})
    _, others = messages_of(broken, [])
    assert "lam" in others[-1]["failure"].message
    assert "Traceback" in others[0]["log"]


def test_a_worker_with_other_versions_is_refused(unit) -> None:
    (message,) = play_in_worker(unit, [], {**versions(), "numpy": "1.0"}, [])
    assert message["failure"].message.startswith("a worker has other versions than the driver")
