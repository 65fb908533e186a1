"""The structure of the sources: no import cycle, not even through functions; few imports; few constants;
only models read their targets; every module with logic has a test file of its name."""

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
    for name in ("agent", "algorithm"):
        used = imported(found[f"cmerl.agents.cme_rl.{name}"].read_text(encoding="utf-8"), set(found))
        assert len(used) <= 11, sorted(used)


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


def numbers(source: str) -> list[str]:
    """Names that a module binds to numbers at its top level."""
    found = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            found += [ast.unparse(name) for name, value in pairs if is_number(value)]
    return found


def is_number(value: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def test_numbers_at_the_top_level_are_found() -> None:
    source = "A = 3\nB, C = 1e-9, 'c'\nD: float = -(2.0**53)\nE = (1, 2)\nF = True\ndef f(x=3):\n    y = 4\n"
    assert numbers(source) == ["A", "B", "D"]


def test_numbers_are_settings_or_arguments_and_hardly_ever_constants_of_a_module() -> None:
    rooms = ("cmerl.agents", "cmerl.embedding", "cmerl.planning", "cmerl.acting")
    found = [
        f"{name}.{number}"
        for name, path in modules().items()
        if name.startswith(rooms)
        for number in numbers(path.read_text(encoding="utf-8"))
    ]
    assert len(found) <= 15, found


def reads_of_targets(source: str) -> list[str]:
    """Expressions that look into a regressed target, which only the model that made it can read."""
    found = []
    for node in ast.walk(ast.parse(source)):
        inner = node.value if isinstance(node, ast.Attribute | ast.Subscript) else None
        inner = node.iter if isinstance(node, ast.comprehension | ast.For) else inner
        if isinstance(inner, ast.Attribute) and inner.attr == "coef" and ast.unparse(inner.value) != "self":
            found.append(ast.unparse(node))
    return found


def test_a_look_into_a_target_is_found() -> None:
    source = "a = stage.coef.mean\nb = stage.coef[0]\nc = [x for x in stage.coef]\nd = view.value(stage.coef, y)\n"
    assert len(reads_of_targets(source)) == 3


def test_nobody_but_models_looks_into_a_target() -> None:
    rooms = ("cmerl.agents", "cmerl.planning", "cmerl.acting", "cmerl.model_selection", "cmerl.checking")
    for name, path in modules().items():
        if name.startswith(rooms):
            assert reads_of_targets(path.read_text(encoding="utf-8")) == [], name


def has_logic(source: str) -> bool:
    """Whether a function of a module does something: protocols, catalogues and tables of words have none."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            said = {ast.unparse(statement) for statement in body}
            if said - {"...", "pass", "raise NotImplementedError"}:
                return True
    return False


def test_logic_is_told_from_protocols_and_words() -> None:
    protocol = 'class A(Protocol):\n    def f(self) -> int:\n        """The number."""\n        ...\n'
    assert not has_logic(protocol)
    assert not has_logic("NAMES = ('a', 'b')\nfrom a import b\n")
    assert not has_logic("class A:\n    def f(self):\n        raise NotImplementedError\n")
    assert has_logic(protocol + "\ndef g(x):\n    return x\n")
    assert has_logic("class A:\n    @property\n    def f(self):\n        return 3\n")


def test_every_module_with_logic_has_a_test_file_of_its_name() -> None:
    tests = Path(__file__).parent
    for name, path in modules().items():
        if path.name != "__init__.py" and has_logic(path.read_text(encoding="utf-8")):
            twin = tests / path.relative_to(ROOT).parent / f"test_{path.name}"
            assert twin.exists(), f"{name} has no {twin.relative_to(tests)}"
            assert "def test_" in twin.read_text(encoding="utf-8"), f"{twin.relative_to(tests)} has no test"
