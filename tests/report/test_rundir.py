from __future__ import annotations

import json

import numpy as np
import pytest
import rundirs

from cmerl.errors import InputError
from cmerl.report import rundir


def test_columns_become_arrays_of_seeds_by_episodes(tmp_path) -> None:
    rundirs.make(tmp_path, envs=("E", "F"), agents=("a", "b"), seeds=3, episodes=5)
    run = rundir.read(tmp_path)
    assert (run.envs, run.agents, run.problems) == (["E", "F"], ["a", "b"], ())
    rows = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    for runs in run.runs:
        for row in rows:
            if (row["env"], row["agent"]) == (runs.env, runs.agent):
                assert runs.values["regret"][row["seed"], row["episode"]] == row["regret"]
                assert runs.values["metrics.optimum"][row["seed"], row["episode"]] == 3.4
    assert run.of("F")[0].agent == "a"
    assert run.of("E")[1].get("metrics.value") is None  # the second agent has no plan


def test_of_an_episode_that_was_redone_the_last_line_counts(tmp_path) -> None:
    rows = rundirs.lines("E", "a", 0, 3)
    rundirs.write(tmp_path, [*rows, {**rows[1], "return": 77.0}])
    assert rundir.read(tmp_path).runs[0].values["return"][0, 1] == 77.0


@pytest.mark.parametrize(
    ("lengths", "seeds", "episodes"),
    [([10, 10, 10], [0, 1, 2], 10), ([200, 10], [0], 200), ([100, 98], [0, 1], 98), ([1, 9, 2, 8], [1, 3], 8)],
)
def test_unequal_seeds_are_compared_over_the_largest_finished_block(tmp_path, lengths, seeds, episodes) -> None:
    rundirs.write(tmp_path, [row for seed, n in enumerate(lengths) for row in rundirs.lines("E", "a", seed, n)])
    (runs,) = rundir.read(tmp_path).runs
    assert runs.lengths.tolist() == lengths
    assert (runs.even[0].tolist(), runs.even[1]) == (seeds, episodes)
    area = max(sum(n >= e for n in lengths) * e for e in lengths)  # by trying all
    assert len(seeds) * episodes == area
    assert runs.get("return").shape == (len(seeds), episodes)


def test_an_episode_number_beyond_all_reason_takes_no_memory(tmp_path) -> None:
    rows = rundirs.lines("E", "a", 0, 3)
    rundirs.write(tmp_path, [*rows, {**rows[0], "episode": 10**15}, {**rows[0], "agent": "b", "episode": 5}])
    (runs,) = rundir.read(tmp_path).runs
    assert runs.values["return"].shape == (1, 3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("manifest.json", "{", "manifest.json cannot be read as JSON"),
        ("manifest.json", "[]", "manifest.json does not hold a JSON object"),
        ("manifest.json", None, "manifest.json is missing"),
        ("summary.json", "\x00", "summary.json cannot be read as JSON"),
        ("episodes.jsonl", "hello\n", "1 line of episodes.jsonl is not an episode"),
        ("episodes.jsonl", "", "There are no finished episodes yet"),
        ("episodes.jsonl", None, "There are no finished episodes yet"),
        ("episodes.jsonl", '{"env"', "The last line of episodes.jsonl is unfinished"),
    ],
)
def test_what_is_missing_or_broken_is_said(tmp_path, name: str, content: str | None, message: str) -> None:
    rundirs.make(tmp_path, seeds=1, episodes=2)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(content)
    assert any(message in problem for problem in rundir.read(tmp_path).problems)


def test_what_is_no_run_directory_gets_one_sentence(tmp_path) -> None:
    with pytest.raises(InputError, match="there is no directory"):
        rundir.read(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is not a run directory: it is empty"):
        rundir.read(tmp_path)
    (tmp_path / "holiday.txt").write_text("")
    with pytest.raises(InputError, match=r"is not a run directory: it holds none of manifest\.json"):
        rundir.read(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        rundir.read(tmp_path / "holiday.txt")


def test_bytes_of_any_kind_are_survived(tmp_path) -> None:
    rng = np.random.default_rng(0)
    whole = rundirs.make(tmp_path, seeds=1, episodes=4)
    text = (whole / "episodes.jsonl").read_bytes()
    for _ in range(50):
        content = bytearray(text)
        for place in rng.integers(len(content), size=20):
            content[place] = rng.integers(256)
        (whole / "episodes.jsonl").write_bytes(bytes(content))
        assert sum(runs.episodes for runs in rundir.read(whole).runs) <= 2 * 3 * 4
