"""Logs from every kind of source say the same, and what is no log is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas
import polars
import pytest
from logged import BOX, NAMES, OBSERVATIONS, PLAYED, TWO, WHOLE, csv, rows, transitions

from cmerl import CMERL, experiments, logs
from cmerl.errors import InputError


def same(episode: logs.LoggedEpisode) -> bool:
    return (
        np.array_equal(np.array(episode.observations), OBSERVATIONS)
        and [int(np.ravel(a)[0]) for a in episode.actions] == [0, 1]
        and episode.rewards.tolist() == [1.0, 2.0]
    )


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
    ("source", "sentence"),
    [
        (3, "must be mappings, a table, a file or a data set, not 3"),
        ([], "there are no episodes in it"),
        ("nowhere.csv", "there is no file 'nowhere.csv'"),
        (".", r"'\.' is a directory without a run: pass a .csv or .parquet file, or the results of a run"),
        (__file__, "logs are read from .csv and .parquet files"),
    ],
)
def test_what_is_no_log(source: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        logs.read(source)


def test_the_directory_of_a_run_is_known_and_its_results_are_asked_for(tmp_path: Path) -> None:
    run = tmp_path / "run"
    experiments.run("cmerl/RiverSwim-v0", agents=["random"], episodes=1, jobs=1, out=run)
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0"))
    with pytest.raises(InputError) as refused:
        agent.fit(str(run))
    assert str(refused.value) == (
        f"{str(run)!r} is the directory of a run: pass its results, agent.fit(cmerl.experiments.load({str(run)!r}))"
    )
    assert agent.fit(experiments.load(run)).ingested[0]["episodes"] == 1  # as it says


# --- names that the environment gives ---
