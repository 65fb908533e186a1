"""`cmerl resume`: a folder of runs names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_folder_of_runs_names_them(tmp_path: Path, call: Any) -> None:
    arguments = ["run", "cmerl/Chain-v0", "--agent", "random", "--episodes", "1", "--jobs", "1"]
    assert call(*arguments, "--out", tmp_path / "first")[0] == 0
    for command in ("resume", "report"):
        code, _, err = call(command, tmp_path)
        assert code == 2
        assert "is not a run directory: it h" in err
        assert err.endswith(f"; there is one in {tmp_path / 'first'}\n")
