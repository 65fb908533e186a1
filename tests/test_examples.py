"""Every example runs, in a process of its own, and says something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []  # it cleans up after itself
    assert len(example.read_text(encoding="utf-8").splitlines()) < 60
