"""Every example runs, in a process of its own, and says something; test_example_notebooks.py runs the notebooks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import notebooks  # tools/notebooks.py
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
CASES = {"inventory": "inventory.png", "battery": "battery.png"}  # they learn for longer, and draw


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if e.stem not in (*CASES, *notebooks.NAMES)], ids=lambda path: path.stem
)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []  # it cleans up after itself
    assert len(example.read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.stem in CASES], ids=lambda path: path.stem)
def test_a_case_runs_in_a_reduced_form(example: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(example), "--episodes", "2", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert (tmp_path / CASES[example.stem]).stat().st_size > 10_000
