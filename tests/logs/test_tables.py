"""Logs in tables: gaps and repeats, rows as an editor counts them, and names of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas
import pytest
from gymnasium import spaces
from logged import NAMES, PLAYED, TWO, WHOLE, csv, rows, transitions

from cmerl import CMERL, logs
from cmerl.errors import InputError


@pytest.mark.parametrize(
    ("table", "names", "sentence"),
    [
        (rows(), {}, r"which column holds observations\? .* it has episode, step, x, v, action, reward, terminated"),
        (rows(), {"observations": ["x", "w"]}, "the frame has no column 'w'"),
        (rows(), {**NAMES, "observation": "x"}, "columns has no entry 'observation'"),
        (rows(step=[0, 1, 1, 0, 1]), NAMES, r"episode a: step 1 is there twice \(row 2\)"),
        (rows(step=[0, 1, 3, 0, 1]), NAMES, r"episode a: after step 1 comes step 3 \(row 2\)"),
        (rows(x=[0.0, None, 0.4, 0.5, 0.6]), NAMES, "episode a: column 'x' is empty in row 1"),
        (rows(reward=[1.0, None, None, 3.0, None]), NAMES, "episode a: column 'reward' is empty in row 1"),
        (rows(episode=["a", "b", "a", "b", "b"]), NAMES, "row 2: episode a goes on after another one began"),
        (rows(terminated=[True, False, False, False, False]), NAMES, "terminated at step 0"),
        (rows(terminated=["maybe", "", "", "", ""]), NAMES, "row 0: terminated is 'maybe', neither True nor False"),
        (rows(), "x", "columns must map observations, .* to names of columns, not 'x'"),
        ({name: [] for name in rows()}, NAMES, "the frame: there are no episodes in it"),
        ({**transitions(), "x": [0.0, 0.25]}, WHOLE, "row 1 does not begin where the row before it led"),
        ({k: v[:1] * 2 for k, v in transitions().items()}, WHOLE, "row 1 repeats row 0"),
    ],
)
def test_tables_with_gaps_and_repeats(table: dict[str, Any], names: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read(pandas.DataFrame(table), names)


def test_rows_of_a_csv_file_are_counted_as_an_editor_does(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"log.csv, row 3: x is 'high', not a number"):
        logs.read(csv(tmp_path / "log.csv", rows(x=[0.0, "high", 0.4, 0.5, 0.6])), NAMES)
    (tmp_path / "short.csv").write_text("a,b\n1\n")
    with pytest.raises(InputError, match="row 2 has 1 cells, its head 2"):
        logs.read(tmp_path / "short.csv")


def test_a_name_that_two_columns_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the frame has two columns 'x': rename one"):
        logs.read(pandas.DataFrame([[0, 1]], columns=["x", "x"]))
    (tmp_path / "log.csv").write_text("x, x\n0,1\n")
    with pytest.raises(InputError, match=r"log.csv has two columns 'x'"):
        logs.read(tmp_path / "log.csv")


def test_files_of_another_format_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("x;v;action\n0,5;1;0\n")
    with pytest.raises(InputError, match=r"separates its cells by ';'"):
        logs.read(tmp_path / "log.csv")
    (tmp_path / "log.parquet").write_text("x,v\n")
    with pytest.raises(InputError, match=r"log.parquet' is not a Parquet file"):
        logs.read(tmp_path / "log.parquet")


def test_dict_observations_may_be_columns() -> None:
    space = spaces.Dict({"x": spaces.Box(0, 1, (1,)), "n": spaces.Discrete(3)})
    played = {**PLAYED, "observations": {"x": np.array([[0.1], [0.2], [0.3]]), "n": [0, 1, 2]}}
    found = logs.read([played]).within(space, TWO).episodes[0]
    assert [obs["n"] for obs in found.observations] == [0, 1, 2]
    with pytest.raises(InputError, match="step 0: the observation has no 'n'"):
        logs.read([{**PLAYED, "observations": [{"x": 0.1}] * 3}]).within(space, TWO)


class Tank(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0.0, 9.0, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)
    horizon = 3
    columns = ("level", "temp")


def test_names_of_the_environment_need_not_be_given_again(tmp_path: Path) -> None:
    file = tmp_path / "tank.csv"
    file.write_text("temp,level,action,reward\n5,1,0,0\n6,2,1,1\n7,3,,\n")
    said = {"observations": ["level", "temp"]}
    ours, theirs = (CMERL(Tank()).fit(file, columns=columns) for columns in (None, said))
    assert ours.ingested == theirs.ingested
    assert ours.ingested[0]["transitions"] == 2
    file.write_text("temp,level,action,reward,next_level,next_temp\n5,1,0,0,2,6\n6,2,1,1,3,7\n")
    assert CMERL(Tank()).fit(file).ingested[0]["sha256"] == ours.ingested[0]["sha256"]
    other = {"observations": ["temp", "level"], "next_observations": ["next_temp", "next_level"]}
    assert CMERL(Tank()).fit(file, columns=other).ingested[0]["sha256"] != ours.ingested[0]["sha256"]
    file.write_text("temp,height,action,reward\n5,1,0,0\n6,2,1,1\n")
    with pytest.raises(InputError, match=r"tank.csv has no column 'level': it has temp, height, action, reward"):
        CMERL(Tank()).fit(file)
    file.write_text("heat,height,action,reward\n5,1,0,0\n6,2,1,1\n")
    with pytest.raises(InputError, match="which column holds observations"):
        CMERL(Tank()).fit(file)
