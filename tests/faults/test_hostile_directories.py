"""A run directory may be somebody else's: nothing outside is written, and nothing is trusted without being asked."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from run_directories import inline, make, timeless

from cmerl import experiments
from cmerl.errors import InputError
from cmerl.experiments import units
from cmerl.experiments.journal import frame, split


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def mine(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "run"))


@pytest.mark.parametrize(
    "name", ["manifest.json", "episodes.jsonl", "summary.json", "episodes.cache", ".lock", "journal"]
)
def test_no_link_is_followed_out_of_the_directory(mine: Path, tmp_path: Path, name: str) -> None:
    path = sorted((mine / "journals").iterdir())[0] if name == "journal" else mine / name
    (tmp_path / "victim").write_text("precious")
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "victim")
    with inline():
        told = ""
        try:
            experiments.resume(mine)
        except InputError as error:
            told = str(error)
    assert not told or "link" in told
    assert (tmp_path / "victim").read_text() == "precious"


def test_modules_and_addresses_of_a_manifest_need_consent(mine: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "stranger_module.py").write_text("raise SystemExit('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    path = mine / "manifest.json"
    manifest = json.loads(path.read_text())
    for change, flag in (
        ({"allow_env_modules": ["stranger_module"]}, "--allow-env-module stranger_module"),
        ({"engine": "ray", "address": "192.0.2.1:6379"}, "--address 192.0.2.1:6379"),
    ):
        path.write_text(json.dumps({**manifest, "spec": {**manifest["spec"], **change}}))
        with pytest.raises(InputError, match=flag):
            experiments.resume(mine)
        with pytest.raises(InputError, match=flag):
            experiments.run(path, out=tmp_path / "again")
    path.write_text(json.dumps({**manifest, "spec": {**manifest["spec"], "allow_env_modules": ["stranger_module"]}}))
    results = experiments.load(mine)
    with pytest.raises(InputError, match="if you trust it, load the results with"):
        results.agent(*results.units[0].key)
    assert "stranger_module" not in sys.modules


def test_a_damaged_journal_is_kept_until_it_was_replayed(mine: Path, sound: Path, monkeypatch, caplog) -> None:
    path = sorted((mine / "journals").iterdir())[0]
    records = list(split(path.read_bytes()))
    damaged = b"".join(map(frame, records[:3])) + b"\xff" * 300
    path.write_bytes(damaged)

    def refuse(*_: object) -> None:
        raise InputError("it cannot be replayed today")

    with inline(), monkeypatch.context() as broken, caplog.at_level(logging.WARNING, "cmerl"):
        broken.setattr(units, "rebuild", refuse)
        (failure,) = experiments.resume(mine).failures
    assert failure["message"] == "it cannot be replayed today"
    assert path.read_bytes() == damaged
    assert "300 bytes after the last whole episode (2 are whole) will be dropped" in caplog.text
    with inline():
        assert experiments.resume(mine).finished
    assert timeless(mine) == timeless(sound)


def test_a_journal_without_a_sound_record_is_kept_aside(mine: Path, sound: Path) -> None:
    path = sorted((mine / "journals").iterdir())[0]
    damaged = bytearray(path.read_bytes())
    damaged[50] ^= 1
    path.write_bytes(damaged)
    with inline():
        assert experiments.resume(mine).finished
    assert timeless(mine) == timeless(sound)
    (aside,) = (mine / "journals").glob("*.damaged-*")
    assert aside.read_bytes() == bytes(damaged)


def test_many_seeds_are_quick_and_none_vanishes() -> None:
    spec = experiments.runner.load_spec({"environments": ["cmerl/RiverSwim-v0"], "seeds": [2**63 - 1]}, {})
    assert spec.seed_list == [2**63 - 1]
    with pytest.raises(InputError, match="from 0 to 2⁶³ − 1"):
        experiments.runner.load_spec({"environments": ["cmerl/RiverSwim-v0"], "seeds": [2**63]}, {})
