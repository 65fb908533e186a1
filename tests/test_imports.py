"""The import graph: no cycle, not even through imports inside functions."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import cmerl

ROOT = Path(cmerl.__file__).parent


def modules() -> dict[str, Path]:
    """Every module of the package, by its dotted name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("cmerl", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(source: str, known: set[str]) -> set[str]:
    """The modules that a source imports anywhere, but for what only type checkers see."""
    tree = ast.parse(source)
    unseen: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            unseen |= {id(inner) for child in node.body for inner in ast.walk(child)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in below}
    return found & known


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """A cycle of a graph, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_a_cycle_inside_functions_is_found() -> None:
    sources = {"cmerl.a": "from cmerl import b", "cmerl.b": "def f():\n    import cmerl.a\n"}
    assert cycle({name: imported(source, set(sources)) for name, source in sources.items()})
    hidden = {**sources, "cmerl.b": "if TYPE_CHECKING:\n    import cmerl.a\n"}
    assert not cycle({name: imported(source, set(hidden)) for name, source in hidden.items()})


def test_no_module_imports_itself_by_a_detour() -> None:
    found = modules()
    packages = {name for name, path in found.items() if path.name == "__init__.py"}
    graph = {}
    for name, path in found.items():
        wanted = imported(path.read_text(encoding="utf-8"), set(found)) - {name}
        # A package only gathers the names of its own modules, which may import one another through no detour.
        graph[name] = {w for w in wanted if not (w in packages and name.startswith(f"{w}."))}
    assert cycle(graph) == []


def test_the_agent_is_composed_of_few_modules() -> None:
    found = modules()
    used = imported(found["cmerl.agents.cme_rl.agent"].read_text(encoding="utf-8"), set(found))
    assert len(used) <= 10, sorted(used)


def test_the_default_agent_imports_nothing_of_the_proofs() -> None:
    found = modules()
    room, waiting = set[str](), ["cmerl.agents.cme_rl.agent"]
    while waiting:
        name = waiting.pop()
        if name in room or not name.startswith("cmerl.agents.cme_rl."):
            continue
        room.add(name)
        tree = ast.parse(found[name].read_text(encoding="utf-8"))
        top = "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        used = imported(top, set(found))
        assert not {u for u in used if u.startswith("cmerl.certificates")}, name
        waiting += used
    assert "cmerl.agents.cme_rl.planner" in room
    assert not room & {f"cmerl.agents.cme_rl.{name}" for name in ("proving", "counting", "balancing", "balanced")}
