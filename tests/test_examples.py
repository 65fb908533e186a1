"""The examples run, in a reduced form."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("name", ["inventory", "battery"])
def test_an_example_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]
    main(["--episodes", "2", "--out", str(tmp_path)])
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert capsys.readouterr().out
