from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cmerl.experiments import columns
from cmerl.experiments.columns import EpisodeLog


def row(episode: int, **other: Any) -> dict[str, Any]:
    about = {"env": "E", "agent": "a", "seed": 0, "episode": episode, "return": 0.5 + episode, "length": 20}
    return {**about, "regret": None, "regret_kind": None, "seconds": 0.01, "metrics": {}, **other}


def write(path: Path, rows: list[Any], mode: str = "w") -> None:
    with open(path / "episodes.jsonl", mode, encoding="utf-8") as file:
        file.writelines((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows)


def test_every_key_becomes_a_column(tmp_path) -> None:
    rows = [row(0, regret=0.25, env="F"), row(1, agent="b", seed=7, length=3)]
    write(tmp_path, rows)
    table = columns.read(tmp_path).columns()
    assert [table.envs[i] for i in table.env] == ["F", "E"]
    assert [table.agents[i] for i in table.agent] == ["a", "b"]
    assert table.seed.tolist() == [0, 7]
    assert table.episode.tolist() == [0, 1]
    assert table.values["return"].tolist() == [0.5, 1.5]
    assert table.values["length"].tolist() == [20, 3]
    np.testing.assert_array_equal(table.values["regret"], [0.25, np.nan])


def test_metrics_become_columns_whatever_they_hold(tmp_path) -> None:
    metrics = [
        {"value": 1.5, "in_set": True, "active": "x"},
        {"learners": {"x": 1, "y": 2.5}, "in_set": False, "counts": [3, 4]},
        {"active": "y", "odd": [[1], "z", None], "mixed": 1},
        {"mixed": "one"},
    ]
    write(tmp_path, [row(i, metrics=m) for i, m in enumerate(metrics)])
    table = columns.read(tmp_path).columns()
    found = {name: column for name, column in table.values.items() if name.startswith("metrics.")}
    nan = np.nan
    expected = {
        "value": [1.5, nan, nan, nan],
        "in_set": [1, 0, nan, nan],
        "active": [0, nan, 1, nan],
        "learners.x": [nan, 1, nan, nan],
        "learners.y": [nan, 2.5, nan, nan],
        "counts.0": [nan, 3, nan, nan],
        "counts.1": [nan, 4, nan, nan],
    }
    for name, column in expected.items():
        np.testing.assert_array_equal(found[f"metrics.{name}"], column)
    assert table.texts["metrics.active"] == ["x", "y"]
    assert "metrics.mixed" not in found


def test_what_is_appended_is_read_and_the_rest_is_not_read_again(tmp_path) -> None:
    log = EpisodeLog(tmp_path)
    assert not log.update()
    assert len(log.columns()) == 0
    write(tmp_path, [row(0), row(1)])
    assert log.update()
    assert not log.update()
    write(tmp_path, [row(2, metrics={"late": 1.0})], "a")
    assert log.update()
    table = log.columns()
    assert table.episode.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(table.values["metrics.late"], [np.nan, np.nan, 1.0])


def test_a_line_is_read_when_it_is_whole(tmp_path) -> None:
    write(tmp_path, [row(0)])
    text = json.dumps(row(1))
    with open(tmp_path / "episodes.jsonl", "a") as file:
        file.write(text[:20])
    log = EpisodeLog(tmp_path)
    log.update()
    assert (len(log.columns()), log.torn, log.skipped) == (1, True, 0)
    with open(tmp_path / "episodes.jsonl", "a") as file:
        file.write(text[20:] + "\n")
    log.update()
    assert (len(log.columns()), log.torn, log.skipped) == (2, False, 0)


def test_lines_that_are_no_episodes_are_counted_and_left_out(tmp_path) -> None:
    foreign = ["{", "[1, 2]", "7", '{"a": 1}', "\x00\x00", "{}"]
    wrong = [
        row(1, env=3),
        row(1, seed=-1),
        row(1, seed=True),
        row(2.5),
        row(2**70),
        row(1, **{"return": "high"}),
        row(1, seconds=[1]),
    ]
    write(tmp_path, [row(0), *foreign, *wrong, "", "  ", row(1)])
    log = columns.read(tmp_path)
    assert log.columns().episode.tolist() == [0, 1]
    assert log.skipped == len(foreign) + len(wrong)


def test_blocks_are_joined_without_a_seam(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(columns, "BLOCK", 100)
    write(tmp_path, [row(i, metrics={"value": float(i)} if i > 3 else {}) for i in range(20)])
    table = columns.read(tmp_path).columns()
    assert table.episode.tolist() == list(range(20))
    np.testing.assert_array_equal(table.values["metrics.value"][4:], np.arange(4.0, 20.0))


@pytest.fixture
def parsed(monkeypatch) -> list[int]:
    """How many lines were parsed, call by call."""
    counts: list[int] = []
    loads = json.loads

    def counted(content: Any, **options: Any) -> Any:
        found = loads(content, **options)
        counts.extend([len(found)] * isinstance(found, list))  # all new lines together are one list
        return found

    monkeypatch.setattr(json, "loads", counted)
    return counts


def test_the_cache_gives_the_same_columns_and_only_news_are_parsed(tmp_path, parsed) -> None:
    write(tmp_path, [row(i, metrics={"active": "x"}) for i in range(5)])
    first = columns.read(tmp_path).columns()
    write(tmp_path, [row(5, metrics={"active": "y"})], "a")
    second = columns.read(tmp_path).columns()
    assert parsed == [5, 1]
    third = columns.read(tmp_path).columns()
    assert parsed == [5, 1]
    assert second.episode.tolist() == third.episode.tolist() == list(range(6))
    assert third.texts["metrics.active"] == ["x", "y"]
    for name in first.values:
        np.testing.assert_array_equal(second.values[name][:5], first.values[name])
        np.testing.assert_array_equal(second.values[name], third.values[name])


@pytest.mark.parametrize("change", ["shorter", "other", "same length", "damaged cache", "foreign cache"])
def test_a_cache_that_does_not_fit_is_made_anew(change: str, tmp_path, parsed) -> None:
    write(tmp_path, [row(i) for i in range(5)])
    columns.read(tmp_path)
    cache = tmp_path / "episodes.cache"
    rows = [row(i) for i in range(5)]
    if change == "shorter":
        rows = rows[:3]
    if change == "other":
        rows = [row(i, seed=12) for i in range(9)]
    if change == "same length":
        rows[2] = row(2, seed=9)
    write(tmp_path, rows)
    if change == "damaged cache":
        content = bytearray(cache.read_bytes())
        content[-3] ^= 1
        cache.write_bytes(content)
    if change == "foreign cache":
        cache.write_bytes(b"something else")
    table = columns.read(tmp_path).columns()
    assert table.episode.tolist() == [r["episode"] for r in rows]
    assert table.seed.tolist() == [r["seed"] for r in rows]
    assert parsed == [5, len(rows)]


def test_large_files_are_probed_and_equal_bytes_are_not_read_again(tmp_path, parsed, monkeypatch) -> None:
    monkeypatch.setattr(columns, "PROBES", 8)
    monkeypatch.setattr(columns, "PROBE", 16)
    rows = [row(i) for i in range(50)]
    write(tmp_path, rows)
    columns.read(tmp_path)
    cache = (tmp_path / "episodes.cache").read_bytes()
    write(tmp_path, rows)
    columns.read(tmp_path)
    assert parsed == [50]
    assert (tmp_path / "episodes.cache").read_bytes() == cache
    write(tmp_path, [row(i, seed=3) for i in range(50)])
    assert set(columns.read(tmp_path).columns().seed) == {3}


def test_without_episodes_there_are_no_columns_and_no_cache(tmp_path) -> None:
    log = columns.read(tmp_path)
    assert len(log.columns()) == 0
    assert list(tmp_path.iterdir()) == []
