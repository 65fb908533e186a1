"""The package's public names: importable on first use, and seen by type checkers."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import cmerl


def seen_by_type_checkers() -> set[str]:
    tree = ast.parse(Path(cmerl.__file__).read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [inner for node in guarded for inner in node.body if isinstance(inner, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


@pytest.mark.parametrize("name", sorted(set(cmerl.__all__) - {"__version__"}))
def test_a_public_name_can_be_had_and_is_seen_by_type_checkers(name: str) -> None:
    assert getattr(cmerl, name) is not None
    assert name in seen_by_type_checkers()  # else its type is what __getattr__ returns: Any


def test_every_module_that_is_loaded_on_use_is_public() -> None:
    assert set(cmerl._MODULES) | set(cmerl._HOMES) | {"__version__"} == set(cmerl.__all__)
    assert all(getattr(cmerl, name) is import_module(f"cmerl.{name}") for name in cmerl._MODULES)
