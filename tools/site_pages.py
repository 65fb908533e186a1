"""Pages of the site that are made from the code: the reference, the command line, the import graph; and mathematics.

MkDocs calls the functions named ``on_…``. Formulas, ``$…$`` in a line and ``$$…$$`` on lines of their own, become
MathML while the site is built, so that a page needs neither a script nor the network to show them.
"""

from __future__ import annotations

import ast
import html
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODULES = (
    "cmerl",
    "cmerl.agents",
    "cmerl.kernels",
    "cmerl.embedding",
    "cmerl.confidence",
    "cmerl.experiments",
    "cmerl.experiments.statistics",
    "cmerl.report",
    "cmerl.logs",
    "cmerl.checking",
    "cmerl.envs",
    "cmerl.oracles",
    "cmerl.theory",
    "cmerl.wrappers",
    "cmerl.errors",
)


def on_config(config: Any) -> Any:
    """Put a page that mkdocs.yml does not place at the end of its folder's section, so that none is out of reach."""
    placed = set(re.findall(r"[\w/-]+\.md", str(config["nav"])))
    sections = {title.lower(): pages for section in config["nav"] for title, pages in section.items()}
    folder = Path(config["docs_dir"])
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).as_posix()
        if name not in placed:
            sections[name.partition("/")[0]].append(name)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what is made from the code."""
    from mkdocs.structure.files import File

    made = {
        "develop/contributing.md": contributing_page(),
        "reference/api.md": api_page(),
        "reference/commands.md": commands_page(),
        "images/imports.svg": import_graph(),
    }
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to files outside of docs/, which readers of the repository can follow, as plain words."""
    up = "../" * (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\[([^\]]+)\]\({re.escape(up)}[^)]*\)", r"\1", markdown)


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Formulas as MathML."""
    from latex2mathml.converter import convert

    def inline(found: re.Match[str]) -> str:
        return str(convert(html.unescape(found[1])))

    def block(found: re.Match[str]) -> str:
        return f'<div class="formula">{convert(html.unescape(found[1]), display="block")}</div>'

    content = re.sub(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', block, content, flags=re.DOTALL)
    return re.sub(r'<span class="arithmatex">\\\((.*?)\\\)</span>', inline, content, flags=re.DOTALL)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Let the search of pages on a disk take its helper from beside them, not from the network as the theme does."""
    return output.replace("https://unpkg.com/iframe-worker/shim", "../" * page.url.count("/") + "frame-worker.js")


def contributing_page() -> str:
    """CONTRIBUTING.md as a page of the site."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](../", re.sub(r"\]\((?!docs/|https:)", "](../../", text))


# --- the reference ---


def public_names(module: str) -> list[tuple[str, Any]]:
    """(name, thing) of a module's public names: those of ``__all__`` that cmerl defines, else those defined there."""
    found = import_module(module)
    listed = getattr(found, "__all__", None)
    names = listed or [n for n in vars(found) if not n.startswith("_")]
    things = [(name, getattr(found, name)) for name in names if not name.startswith("__")]
    home = "cmerl" if listed else module
    return [
        (name, thing)
        for name, thing in things
        if not inspect.ismodule(thing) and str(getattr(thing, "__module__", "")).startswith(home)
    ]


def api_page() -> str:
    """Every public name with its signature and docstring."""
    parts = ["# Python", "", "The public names of cmerl, generated from their docstrings.", ""]
    parts += ["| module | contents |", "|---|---|"]
    docs = {module: (inspect.getdoc(import_module(module)) or "").partition("\n\n")[0] for module in MODULES}
    parts += [f"| [{module}](#{module}) | {_escaped(' '.join(doc.split()))} |" for module, doc in docs.items()]
    seen: dict[int, str] = {}
    for module in MODULES:
        parts += ["", f"## {module} {{ #{module} }}", "", _escaped(docs[module]), ""]
        for name, thing in public_names(module):
            first = seen.setdefault(id(thing), f"{module}.{name}")
            same = first != f"{module}.{name}"  # shown once
            parts += [f"`{name}` is [{first}](#{first}).", ""] if same else _entry(module, name, thing)
    return "\n".join(parts)


def _entry(module: str, name: str, thing: Any) -> list[str]:
    lines = [f"### {module}.{name} {{ #{module}.{name} data-toc-label='{name}' }}", ""]
    if callable(thing) and not getattr(thing, "_is_protocol", False):
        lines += ["```python", f"{name}{_signature(thing)}", "```", ""]
    lines += [*_docstring(inspect.getdoc(thing) or ""), ""]
    if inspect.isclass(thing):
        for method, value in vars(thing).items():
            if not method.startswith("_") and (
                inspect.isfunction(value) or isinstance(value, property | classmethod)
            ):
                doc = inspect.getdoc(value) or ""
                inner = value.__func__ if isinstance(value, classmethod) else value
                call = "" if isinstance(value, property) else _signature(inner).replace("\n", " ")
                lines += [f"- `.{method}{_short(call)}` {_escaped(doc.partition(chr(10))[0])}"]
        lines.append("")
    return lines


def _signature(thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(…)"
    written = (
        getattr(thing, "__annotations__", {}) if hasattr(thing, "model_fields") else {}
    )  # pydantic resolves them
    shown = [
        p.replace(
            annotation=re.sub(r"Annotated\[(.+?), Field\(.*?\)\]", r"\1", written[name])
            if name in written
            else p.annotation,
            default=_Elided() if len(repr(p.default)) > 80 else p.default,
        )
        for name, p in signature.parameters.items()
    ]
    found = re.sub(r" at 0x[0-9a-f]+", "", str(signature.replace(parameters=shown)))
    found = re.sub(r"ForwardRef\('(.+?)'\)", r"\1", found)
    found = re.sub(r"cmerl\.[a-z_.]*\.([A-Za-z_]+)", r"\1", found).replace("collections.abc.", "")
    found = re.sub(r"(: |-> )(['\"])(.*?)\2(?=[,)=]| =|$)", r"\1\3", found)  # annotations are text, defaults stay
    parts = re.split(r", (?=[A-Za-z_*]+(?:[:=,)]| =|$))", found[1:].rpartition(") ->")[0] or found[1:-1])
    if len(found) < 90:
        return found
    return "(\n    " + ",\n    ".join(parts) + ",\n)"


class _Elided:
    """A default that is too long to show."""

    def __repr__(self) -> str:
        return "…"


def _short(call: str) -> str:
    names = re.findall(r"(?:^\(|, )([A-Za-z_*]+)", re.sub(r"\[[^\]]*\]", "", call))
    return f"({', '.join(n for n in names if n not in ('self', 'cls'))})" if call else ""


def _docstring(doc: str) -> list[str]:
    """Google style as Markdown: sections become lists, examples blocks of code."""
    lines: list[str] = []
    inside = example = False
    for line in doc.splitlines():
        if line.startswith(">>>") or example:  # up to an empty line, as doctest reads it
            if not example:
                lines += ["", "```pycon"]
            example = bool(line.strip())
            lines.append(line if example else "```\n")
        elif re.fullmatch(r"(Args|Attributes|Returns|Raises|Yields):", line):
            lines += ["", f"**{line[:-1]}**", ""]
            inside = True
        elif inside and (found := re.match(r"    (\w[\w*, ]*): (.*)", line)):
            lines.append(f"- `{found[1]}`: {_escaped(found[2])}")
        elif inside and line.startswith("    "):
            lines.append(f"  {_escaped(line.strip())}")
        else:
            inside = inside and not line.strip()
            lines.append(line if line.startswith("    ") else _escaped(line))
    return [*lines, "```"] if example else lines


def _escaped(text: str) -> str:
    """Markdown in which docstrings' own signs stay what they are."""
    text = re.sub(r":[a-z]+:`(.+?)`", r"`\1`", re.sub(r"``(.+?)``", r"`\1`", text))
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\[\]*_<$])", r"\\\1", p) for p in parts)


# --- the command line ---


def commands_page() -> str:
    """The help of every command."""
    from cmerl.cli import app

    parts = ["# Command line", "", "The help of every command (`cmerl COMMAND --help`).", ""]
    group = app()
    for name, command in group.commands.items():
        found = [(name, command), *((f"{name} {sub}", c) for sub, c in getattr(command, "commands", {}).items())]
        for title, each in found:
            context = each.make_context(f"cmerl {title}", [], resilient_parsing=True)
            parts += [f"## cmerl {title}", "", "```text", each.get_help(context), "```", ""]
    return "\n".join(parts)


# --- the import graph ---


def layers() -> list[list[str]]:
    """The layers of pyproject.toml, from the top."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [[name.strip().removeprefix("cmerl.") for name in layer.split("|")] for layer in contract["layers"]]


def imports() -> dict[tuple[str, str], int]:
    """How often a part of the package imports another, wherever the import stands."""
    found: dict[tuple[str, str], int] = {}
    known = {name for layer in layers() for name in layer}
    for path in (ROOT / "src" / "cmerl").rglob("*.py"):
        part = path.relative_to(ROOT / "src" / "cmerl").parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("cmerl"):
                below = node.module.split(".")[1:] or [alias.name for alias in node.names]
                if part in known and below[0] in known and below[0] != part:
                    found[part, below[0]] = found.get((part, below[0]), 0) + 1
    return found


def import_graph() -> str:
    """The layers as rows of boxes, and an arc for each import, the thicker the more there are."""
    rows = layers()
    place: dict[str, tuple[float, float]] = {}
    width, height = 760, 46 * len(rows) + 20
    for i, row in enumerate(rows):
        for j, name in enumerate(row):
            place[name] = (90 + 150 * j, 30 + 46 * i)
    arcs = []
    for (a, b), count in sorted(imports().items()):
        (x1, y1), (x2, y2) = place[a], place[b]
        bow = 40 + 0.42 * abs(y2 - y1) + 60 * (max(x1, x2) > 100)
        ends = f"M{x1 + 62},{y1} C{x1 + 62 + bow},{y1} {x2 + 62 + bow},{y2} {x2 + 66},{y2}"
        title = f"<title>{a} imports {b} ({count})</title>"
        arcs.append(f'<path d="{ends}" stroke-width="{min(0.6 + 0.12 * count, 3):.1f}">{title}</path>')
    boxes = [
        f'<g><rect x="{x - 62}" y="{y - 14}" width="124" height="28" rx="6"/>'
        f'<text x="{x}" y="{y + 5}">{html.escape(name)}</text></g>'
        for name, (x, y) in place.items()
    ]
    style = (
        "text{font:14px system-ui,sans-serif;text-anchor:middle;fill:#1c2024}rect{fill:#e8f1f8;stroke:#0072b2}"
        "path{fill:none;stroke:#8c8c8c;stroke-opacity:.55}"
    )
    ground = f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="import graph"><style>{style}</style>{ground}{"".join(arcs)}{"".join(boxes)}</svg>'
    )
