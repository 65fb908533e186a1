"""`cmerl watch`: the address is said, and opened where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("options", [[], ["--open"]])
def test_the_address_is_said(options: list[str], call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served, opened = [], []

    def serve(directory: Path, announce: Any) -> None:
        served.append(directory)
        announce("http://127.0.0.1:8123")

    monkeypatch.setattr("cmerl.report.serve", serve)
    monkeypatch.setattr("typer.launch", opened.append)
    code, out, _ = call("watch", tmp_path, *options)
    assert (code, served) == (0, [tmp_path])
    assert out == f"{tmp_path} is at http://127.0.0.1:8123 (Ctrl-C to stop)\n"
    assert opened == ["http://127.0.0.1:8123"] * len(options)
