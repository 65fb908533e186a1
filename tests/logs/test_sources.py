"""Logged episodes from every kind of source: what is read, and what is refused, named and located."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas
import polars
import pytest
from gymnasium import spaces

from cmerl import CMERL, logs
from cmerl.errors import InputError

BOX = spaces.Box(-1.0, 1.0, (2,))
TWO = spaces.Discrete(2)
OBSERVATIONS = np.array([[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]])
PLAYED = {"observations": OBSERVATIONS, "actions": [0, 1], "rewards": [1.0, 2.0], "terminated": True}
NAMES = {"observations": ["x", "v"]}


def rows(**changed: Any) -> dict[str, list[Any]]:
    """Two episodes, the last row of each says where it ended."""
    table: dict[str, list[Any]] = {
        "episode": ["a"] * 3 + ["b"] * 2,
        "step": [0, 1, 2, 0, 1],
        "x": [0.0, 0.2, 0.4, 0.5, 0.6],
        "v": [0.1, 0.3, 0.5, 0.0, 0.0],
        "action": [0, 1, None, 1, None],
        "reward": [1.0, 2.0, None, 3.0, None],
        "terminated": [False, True, False, False, False],
    }
    return {**table, **changed}


def transitions() -> dict[str, list[Any]]:
    """One episode, every row a whole transition."""
    return {
        "x": [0.0, 0.2],
        "v": [0.1, 0.3],
        "x2": [0.2, 0.4],
        "v2": [0.3, 0.5],
        "action": [0, 1],
        "reward": [1.0, 2.0],
    }


WHOLE = {**NAMES, "next_observations": ["x2", "v2"]}


def same(episode: logs.LoggedEpisode) -> bool:
    return (
        np.array_equal(np.array(episode.observations), OBSERVATIONS)
        and [int(np.ravel(a)[0]) for a in episode.actions] == [0, 1]
        and episode.rewards.tolist() == [1.0, 2.0]
    )


def csv(path: Path, table: dict[str, list[Any]]) -> Path:
    cells = zip(*table.values(), strict=True)
    lines = [",".join(table), *(",".join("" if cell is None else str(cell) for cell in row) for row in cells)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_arrays_frames_and_files_say_the_same(tmp_path: Path) -> None:
    pandas.DataFrame(rows()).to_parquet(tmp_path / "log.parquet")
    sources = [
        pandas.DataFrame(rows()),
        polars.DataFrame(rows()),
        csv(tmp_path / "log.csv", rows()),
        tmp_path / "log.parquet",
    ]
    for source in sources:
        found = logs.read(source, NAMES)
        assert len(found.episodes) == 2, source
        assert same(found.episodes[0])
        assert [episode.terminated for episode in found.episodes] == [True, False]
        assert found.transitions == 3
    assert same(logs.read(PLAYED).episodes[0])
    assert same(logs.read(pandas.DataFrame(transitions()), WHOLE).episodes[0])


def test_checksums_are_of_the_content_not_of_the_container(tmp_path: Path) -> None:
    frame, text = logs.read(pandas.DataFrame(rows()), NAMES), logs.read(csv(tmp_path / "log.csv", rows()), NAMES)
    checked = [found.within(BOX, TWO).provenance() for found in (frame, text)]
    assert checked[0]["sha256"] == checked[1]["sha256"]
    other = logs.read(pandas.DataFrame(rows(reward=[1.0, 2.5, None, 3.0, None])), NAMES).within(BOX, TWO)
    assert other.provenance()["sha256"] != checked[0]["sha256"]


@pytest.mark.filterwarnings("ignore::UserWarning:minari")
def test_a_minari_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    import minari
    from minari.data_collector import EpisodeBuffer

    buffer = EpisodeBuffer(
        observations=OBSERVATIONS.astype(np.float32),
        actions=np.array([0, 1]),
        rewards=np.array([1.0, 2.0]),
        terminations=np.array([False, True]),
        truncations=np.array([False, False]),
        infos={},
    )
    data = minari.create_dataset_from_buffers(
        "cmerl/test-v0",
        [buffer],
        observation_space=BOX,
        action_space=TWO,
        data_format="arrow",
        algorithm_name="none",
        code_permalink="none",
        author="none",
        author_email="none",
        description="none",
    )
    found = logs.read(data)
    assert found.source == "Minari data set cmerl/test-v0"
    assert found.episodes[0].terminated
    assert np.allclose(np.array(found.episodes[0].observations), OBSERVATIONS, atol=1e-7)


@pytest.mark.parametrize(
    ("played", "sentence"),
    [
        ({**PLAYED, "rewards": [1.0]}, "3 observations, 2 actions and 1 rewards"),
        ({"observations": OBSERVATIONS, "actions": [0, 1]}, "episode 0 has no rewards: it has observations, actions"),
        ({**PLAYED, "rewards": [1.0, np.nan]}, "episode 0, step 1: the reward is nan"),
        ({**PLAYED, "terminated": [True, False]}, "goes on after it terminated at step 0"),
        ({**PLAYED, "actions": [], "rewards": [], "observations": [[0, 0]]}, "episode 0 has no steps"),
    ],
)
def test_a_malformed_episode_is_named(played: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read([played])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"actions": [0, 2]}, "episode 0, step 1: the action is 2, outside of the whole numbers 0 to 1"),
        ({"actions": [0, 0.5]}, "step 1: the action is 0.5"),
        ({"observations": OBSERVATIONS * 3}, r"step 2: the observation has 1.2 in column 0, outside of \[-1, 1\]"),
        ({"observations": [[0, 0], [0, np.inf], [0, 0]]}, "step 1: the observation has a NaN or infinite entry"),
        ({"observations": [[0], [0], [0]]}, r"step 0: the observation is \[0\], not numbers of shape \(2,\)"),
    ],
)
def test_values_outside_the_spaces_are_located(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read([{**PLAYED, **changed}]).within(BOX, TWO)


def test_text_and_float32_may_round() -> None:
    found = logs.read([{**PLAYED, "observations": [[0, 0], [0, 0], [1.000001, 0]]}]).within(BOX, TWO)
    assert found.episodes[0].observations[-1][0] == 1.0


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


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (3, "must be mappings, a table, a file or a data set, not 3"),
        ([], "there are no episodes in it"),
        ("nowhere.csv", "there is no file 'nowhere.csv'"),
        (".", r"is a directory: of a run, pass cmerl.experiments.load\('.'\)"),
        (__file__, "logs are read from .csv and .parquet files"),
    ],
)
def test_what_is_no_log(source: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read(source)


def test_dict_observations_may_be_columns() -> None:
    space = spaces.Dict({"x": spaces.Box(0, 1, (1,)), "n": spaces.Discrete(3)})
    played = {**PLAYED, "observations": {"x": np.array([[0.1], [0.2], [0.3]]), "n": [0, 1, 2]}}
    found = logs.read([played]).within(space, TWO).episodes[0]
    assert [obs["n"] for obs in found.observations] == [0, 1, 2]
    with pytest.raises(InputError, match="step 0: the observation has no 'n'"):
        logs.read([{**PLAYED, "observations": [{"x": 0.1}] * 3}]).within(space, TWO)


# --- names that the environment gives ---


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
    with pytest.raises(InputError, match="which column holds observations"):
        CMERL(Tank()).fit(file)
