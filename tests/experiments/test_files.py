"""Files of a run directory: whole, JSON, and writable again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmerl.errors import InputError
from cmerl.experiments.files import read_json, whole_lines, write_json


def test_what_is_written_is_read(tmp_path: Path) -> None:
    value = {"a": [1, 2.5, None], "ü": {"b": True}}
    write_json(tmp_path / "x.json", value)
    assert read_json(tmp_path / "x.json") == value


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999", "-1e999"])
def test_a_number_that_could_not_be_written_again_is_refused(tmp_path: Path, number: str) -> None:
    (tmp_path / "manifest.json").write_text(f'{{"format": 1, "more": {number}}}')
    with pytest.raises(InputError, match=r"manifest.json is damaged: it is not JSON"):
        read_json(tmp_path / "manifest.json")


def test_what_is_not_an_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(InputError, match="not a JSON object"):
        read_json(tmp_path / "x.json")


def test_torn_lines_are_left_out() -> None:
    assert list(whole_lines(b'{"a": 1}\n[2]\n{"b": 2}\n{"c": ')) == [{"a": 1}, {"b": 2}]
