"""Whatever the documentation shows is run: every Python block, page by page, and the examples in docstrings."""

from __future__ import annotations

import doctest
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
DOCTESTED = ("cmerl.agents", "cmerl.agents.cme_rl.agent", "cmerl.embedding.facade", "cmerl.kernels")


def python_blocks(text: str) -> list[tuple[int, str]]:
    """(line, code) of every block fenced as Python."""
    blocks = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)), block[1]) for block in blocks]


def test_blocks_are_found() -> None:
    text = "one\n```python\nx = 1\n```\n\n```text\nno\n```\n```python\ny = 2\nz = 3\n```\n"
    assert python_blocks(text) == [(2, "x = 1\n"), (9, "y = 2\nz = 3\n")]
    assert python_blocks((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_a_page_runs(page: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    for line, code in python_blocks(page.read_text(encoding="utf-8")):
        # Blank lines in front, so that a traceback names the line of the page.
        exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), module.__dict__)


@pytest.mark.parametrize("name", DOCTESTED)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("https://", "http://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
