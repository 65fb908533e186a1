"""Notebooks are made from scripts, run from top to bottom, show a figure, and stay small."""

from __future__ import annotations

import nbformat
import notebooks  # tools/notebooks.py
import pytest

KEPT = notebooks.EXAMPLES / "notebooks"


def test_there_are_two() -> None:
    assert {path.stem for path in KEPT.glob("*.ipynb")} == set(notebooks.NAMES)


@pytest.mark.parametrize("name", notebooks.NAMES)
@pytest.mark.filterwarnings("default")  # what a kernel says of sockets is none of ours
def test_a_notebook_is_its_script_run(name: str) -> None:
    made, kept = notebooks.made(name), nbformat.read(KEPT / f"{name}.ipynb", as_version=4)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in made.cells], "run make picture"
    assert [cell.cell_type for cell in kept.cells] == [cell.cell_type for cell in made.cells]
    for notebook in (made, kept):
        assert len(notebooks.figures(notebook)) == 1
        assert len(nbformat.writes(notebook)) < 100_000


def test_cells_are_text_and_code() -> None:
    found = notebooks.cells("# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 1\n\nx\n# %%\ny = 2\n")
    assert [(cell.cell_type, cell.source) for cell in found] == [
        ("markdown", "# Title\n\nWords."),
        ("code", "x = 1\n\nx"),
        ("code", "y = 2"),
    ]
