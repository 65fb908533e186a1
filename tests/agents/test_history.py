"""Histories behave as lists of records, in little room."""

from __future__ import annotations

import copy
import math
import pickle
import tracemalloc

import numpy as np
import pytest

from cmerl.agents.history import History
from cmerl.agents.records import EpisodeRecord

RECORDS = [
    EpisodeRecord(0, 1.5, 20, None, None, 0.25),
    EpisodeRecord(1, -0.0, 3, 0.1 + 0.2, "gaps", 0.5, {"value": 1e300, "n": 2**53, "holds": True, "bound": None}),
    EpisodeRecord(2, 2.0, 3, 0.0, "policy", 0.5, {"value": 2.0, "n": -3, "holds": False, "bound": 4.0}),
    EpisodeRecord(3, 2.0, 3, 0.0, "policy", 0.5, {"big": 2**60, "words": "a", "list": [1, {"b": 2}]}),
    EpisodeRecord(4, np.float64(2.0), 3, None, None, 0.5, {"numpy": np.float64(1.0)}),
]


def test_it_is_a_list_of_records() -> None:
    history = History(RECORDS)
    assert list(history) == history[:] == RECORDS
    assert history == RECORDS
    assert history != RECORDS[:-1]
    assert history == History(RECORDS)
    assert [history[i] for i in range(-5, 5)] == RECORDS * 2
    assert history[1:4:2] == RECORDS[1:4:2]
    assert history[-2:] == RECORDS[-2:]
    assert repr(history) == repr(RECORDS)
    assert bool(History()) is False
    assert history.returns() == [r.ret for r in RECORDS]
    with pytest.raises(IndexError, match="no episode 5 among 5"):
        history[5]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: str(r.episode))
def test_types_and_bits_come_back(record: EpisodeRecord) -> None:
    history = History(RECORDS[: record.episode])
    history.append(record)
    back = history[-1]
    assert [type(v) for v in back.metrics.values()] == [type(v) for v in record.metrics.values()]
    assert list(back.metrics) == list(record.metrics)
    assert (type(back.ret), type(back.length)) == (type(record.ret), int)
    assert math.copysign(1.0, back.ret) == math.copysign(1.0, record.ret)


def test_not_a_number_comes_back() -> None:
    history = History([EpisodeRecord(0, math.nan, 1, math.nan, "gaps", 0.0, {"x": math.inf})])
    assert math.isnan(history[0].ret)
    assert math.isnan(history[0].regret or 0.0)
    assert history[0].metrics == {"x": math.inf}


def test_an_append_that_is_interrupted_leaves_no_trace() -> None:
    class Interrupting(dict):
        def values(self):
            yield 1.0
            raise KeyboardInterrupt

    history = History(RECORDS[:2])
    with pytest.raises(KeyboardInterrupt):
        history.append(EpisodeRecord(2, 1.0, 1, None, None, 0.0, Interrupting(a=1.0, b=2.0)))
    assert history == RECORDS[:2]
    for record in RECORDS[2:]:
        history.append(record)
    assert history == RECORDS


def test_copies_are_their_own() -> None:
    history = History(RECORDS[:2])
    for other in (copy.deepcopy(history), pickle.loads(pickle.dumps(history))):
        other.append(RECORDS[2])
        assert (len(history), len(other)) == (2, 3)
        assert other == RECORDS[:3]


def test_ten_thousand_episodes_take_a_megabyte_and_a_half() -> None:
    tracemalloc.start()
    history = History()
    for i in range(10_000):
        metrics = {"value": i + 0.1, "gain": i + 0.2, "size": 300, "begun": i, "seen": 10 * i, "error": i / 7}
        history.append(EpisodeRecord(i, i / 3, 10, i / 9, "gaps", i / 11, metrics))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(history) == 10_000
    assert size < 1.5e6
