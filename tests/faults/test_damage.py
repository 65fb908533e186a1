"""Files that were torn or damaged: cut and redone where that is safe, one sentence where it is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cmerl import experiments
from cmerl.errors import InputError


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("damage") / "run"
    experiments.run("cmerl/RiverSwim-v0", agents=["cme-rl", "random"], episodes=6, jobs=1, out=directory)
    return directory


@pytest.fixture
def damaged(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def timeless(directory: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (directory / "episodes.jsonl").read_text().splitlines()]
    return [{**line, "seconds": 0} for line in lines]


def journal(directory: Path, agent: str) -> Path:
    (path,) = directory.glob(f"journals/*{agent}*")
    return path


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.999])
def test_a_torn_journal_is_cut_and_its_episodes_are_redone(finished: Path, damaged: Path, keep: float) -> None:
    path = journal(damaged, "cme-rl")
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    assert experiments.resume(damaged).finished
    assert timeless(damaged) == timeless(finished)


def test_a_flipped_bit_in_a_journal_costs_the_episodes_after_it(finished: Path, damaged: Path) -> None:
    path = journal(damaged, "cme-rl")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    before = (damaged / "episodes.jsonl").read_text().splitlines()
    assert experiments.resume(damaged).finished
    assert timeless(damaged) == timeless(finished)
    after = (damaged / "episodes.jsonl").read_text().splitlines()
    assert after[0] == before[0]  # with its time: it was not played again
    assert after[6:] == before[6:]


def test_a_missing_journal_is_played_anew(finished: Path, damaged: Path) -> None:
    journal(damaged, "random").unlink()
    assert experiments.resume(damaged).finished
    assert timeless(damaged) == timeless(finished)


@pytest.mark.parametrize("content", [b"", b"not json", b'{"env": "x"}\n', b"\xff\xfe\n", None])
def test_episodes_that_were_torn_damaged_or_lost_come_back_from_the_journals(
    finished: Path, damaged: Path, content: bytes | None
) -> None:
    path = damaged / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40] if content is None else content)
    experiments.resume(damaged)
    assert path.read_bytes() == whole


def test_lines_that_are_there_twice_are_there_once_after_resuming(damaged: Path) -> None:
    path = damaged / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole * 2)
    experiments.resume(damaged)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "manifest.json is damaged: it is not JSON"),
        ("[1]", "manifest.json is damaged: it is not a JSON object"),
        ("{}", "manifest.json is damaged or of another version"),
        ('{"format": 99, "spec": {}}', "of another version"),
        (
            '{"format": 1, "spec": {"episods": 3}}',
            "manifest.json: there is no key 'episods': did you mean 'episodes'",
        ),
    ],
)
def test_a_damaged_manifest_is_named(damaged: Path, content: str, reason: str) -> None:
    (damaged / "manifest.json").write_text(content)
    with pytest.raises(InputError, match=reason):
        experiments.resume(damaged)


def test_a_manifest_that_was_edited_does_not_fit_its_journals(damaged: Path) -> None:
    path = damaged / "manifest.json"
    path.write_text(path.read_text().replace('"episodes": 6', '"episodes": 7'))
    with pytest.raises(InputError, match="the journal belongs to other settings than the manifest's"):
        experiments.resume(damaged)


def test_what_is_no_run_directory_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no directory"):
        experiments.resume(tmp_path / "nothing")
    with pytest.raises(InputError, match="is not a run directory"):
        experiments.load(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and is not empty"):
        experiments.run("cmerl/RiverSwim-v0", out=tmp_path, episodes=1)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_other_versions_than_those_of_the_manifest_are_told(damaged: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = damaged / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["versions"]["numpy"] = "0.9"
    path.write_text(json.dumps(manifest))
    experiments.resume(damaged)
    assert "numpy 0.9 →" in caplog.text
