"""Whatever the documentation shows is tried: Python is run, specs are loaded, commands are read by their parsers,
and what a console block shows is what the command prints."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from cmerl import cli
from cmerl.errors import InputError
from cmerl.experiments import tuning
from cmerl.experiments.runner import check, load_spec

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
DOCTESTED = ("cmerl.agents", "cmerl.agents.cme_rl.agent", "cmerl.embedding.facade", "cmerl.kernels")


def python_blocks(text: str) -> list[tuple[int, str]]:
    """(line, code) of every block fenced as Python."""
    blocks = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)), block[1]) for block in blocks]


def test_blocks_are_found() -> None:
    text = "one\n```python\nx = 1\n```\n\n```text\nno\n```\n```python\ny = 2\nz = 3\n```\n"
    assert python_blocks(text) == [(2, "x = 1\n"), (9, "y = 2\nz = 3\n")]
    assert python_blocks((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_on_a_page_runs(page: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module = ModuleType(f"page_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    for line, code in python_blocks(page.read_text(encoding="utf-8")):
        if file := re.match(r"# (\w+)\.py\n", code):  # a file that the reader saves
            (tmp_path / f"{file[1]}.py").write_text(code, encoding="utf-8")
            monkeypatch.setitem(sys.modules, file[1], ModuleType(file[1]))  # forgotten at the end
            del sys.modules[file[1]]
            import_module(file[1])
            continue
        # Blank lines in front, so that a traceback names the line of the page.
        exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), module.__dict__)


@pytest.mark.parametrize("name", DOCTESTED)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    by_the_site = ("reference/api.md", "reference/commands.md", "develop/contributing.md", "images/imports.svg")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("https://", "http://", "mailto:")) and not target.endswith(by_the_site):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def raw_formulas(text: str) -> list[str]:
    """Words of prose with a subscript or a power that is not marked as a formula, and would be shown as typed."""
    text = re.sub(r"^```.*?^```$|\$\$.*?\$\$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)", "", text)
    return re.findall(r"\S*(?:(?<!\w)[^\W\d_]_\w|[‖)\]]_[\w{]|\w_[^\W\d_]\b|\^[\w({])\S*", text)


def test_a_formula_that_is_not_marked_is_found() -> None:
    text = "V_h and V^π, ‖V‖_ψ, return_t; not `a_b`, $V_h$, next_obs, dm_control\n\n    x_1 = 2\n"
    assert raw_formulas(text) == ["V_h", "V^π,", "‖V‖_ψ,", "return_t;"]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_formulas_are_rendered(page: Path) -> None:
    assert raw_formulas(page.read_text(encoding="utf-8")) == []


def test_user_pages_are_short() -> None:
    """What was measured and how settings were chosen belongs to docs/evidence, mathematics to docs/method."""
    user = [ROOT / "README.md", ROOT / "docs/index.md"]
    user += [page for folder in ("start", "how-to") for page in (ROOT / "docs" / folder).glob("*.md")]
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in user}
    assert sum(words.values()) <= 11_000, words


def test_the_glossary_is_in_order_and_names_what_is_there() -> None:
    """Terms are sorted, and every name in the last column is a word of the sources or a path among them."""
    page = (ROOT / "docs" / "start" / "glossary.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in page.splitlines() if line.startswith("| ")][1:]
    terms = [row[0].lower().replace("-", " ") for row in rows]
    assert terms == sorted(terms)
    source = ROOT / "src" / "cmerl"
    paths = {
        path.relative_to(source).with_suffix("").as_posix() for path in source.rglob("*") if path.suffix != ".pyc"
    }
    known = set(re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))))
    names = {part for path in paths for part in path.split("/")} | known | {"cmerl"}
    for row in rows:
        for code in re.findall(r"`([^`]+)`", row[-1]):
            for name in re.findall(r"[A-Za-z_]\w*", code.partition("=")[0]):
                assert name in names, (row[0], code)


def test_walks_through_the_code_are_short_and_name_what_is_there() -> None:
    walks = (ROOT / "docs" / "develop" / "one-episode.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(walks) == 4
    for walk in walks:
        assert 3 <= len(re.findall(r"^\d+\. ", walk, re.MULTILINE)) <= 12, walk.splitlines()[0]
        for name, target in re.findall(r"\[`([\w.]+)`[^\]]*\]\((?:\.\./)+(src/[^)]+\.py)\)", walk):
            source = (ROOT / target).read_text(encoding="utf-8")
            assert re.search(rf"^\s*(def|class) {name.split('.')[-1]}\b", source, re.MULTILINE), (name, target)


def test_the_first_page_works_in_an_empty_folder(tmp_path: Path) -> None:
    """A reader's own way: save the files, type the commands in order, get a policy and a report."""
    page = (ROOT / "docs" / "start" / "ten-minutes.md").read_text(encoding="utf-8")
    for name, code in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(code, encoding="utf-8")
    typed = [line for block in blocks(page, "bash") for line in block.splitlines() if not line.startswith("pip ")]
    typed = [
        re.sub(r"--episodes \d+ --seeds \d+", "--episodes 2 --seeds 2", line) for line in typed
    ]  # as it is, a minute
    typed.insert(1, "python learn.py && python deploy.py")
    python = shlex.quote(sys.executable)
    words = {"python": python, "cmerl": f"{python} -m cmerl"}
    for line in typed:
        command = re.sub(r"(?<![\w.])(python|cmerl)(?= )", lambda found: words[found[1]], line)
        subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    assert {"room.policy", "agent.safetensors"} <= {file.name for file in tmp_path.iterdir()}
    assert (tmp_path / "runs" / "room" / "report.html").stat().st_size > 100_000


# --- specs ---


def blocks(text: str, language: str) -> list[str]:
    """Every block fenced as a language; "" for one without."""
    return [found[1] for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


SPECS = [(name, block) for page, name in zip(PAGES, NAMES, strict=True) for block in blocks(page.read_text(), "toml")]


@pytest.mark.parametrize(("name", "block"), SPECS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(SPECS)])
def test_a_spec_on_a_page_can_be_run(name: str, block: str, tmp_path: Path) -> None:
    values = tomllib.loads(block)
    if "tune" in values:
        file = tmp_path / "spec.toml"
        file.write_text(block)
        tuning.load(file)
        return
    spec = load_spec({"environments": ["cmerl/RiverSwim-v0"], **values}, {}, name)  # some show a few keys only
    if "StableBaselines" in block and find_spec("stable_baselines3") is None:  # it is several hundred megabytes
        with pytest.raises(InputError, match=r"pip install 'cmerl\[baselines\]'"):
            check(spec)
    elif spec.address is None:
        check(spec)  # makes every environment with every agent


# --- commands ---

PROGRAMS = ("cmerl ", "python ", "make ", "pip ")


def commands(text: str) -> list[str]:
    """Every line of a block, fenced or indented, that is a command; continued lines are one, comments are cut off."""
    text = re.sub(r"\\\n\s*", " ", text)
    lines = [
        line for language in ("bash", "", "text") for block in blocks(text, language) for line in block.splitlines()
    ]
    lines += [line[2:] for block in blocks(text, "console") for line in block.splitlines() if line.startswith("$ ")]
    lines += [line[4:] for line in text.splitlines() if re.match(r"    \S", line)]
    return [line.partition("  #")[0].partition(" # ")[0].strip() for line in lines if line.startswith(PROGRAMS)]


def read_command(line: str) -> None:
    """Raise where a command is not one: an option that there is not, a target or a file that is missing."""
    program, *arguments = shlex.split(line)
    if program == "cmerl":
        command = cli.app()
        while hasattr(command, "commands"):
            command = command.commands[arguments.pop(0)]
        command.make_context(
            "cmerl", [a for a in arguments if a != "--help"], resilient_parsing="--help" in arguments
        )
    elif program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert arguments[0] in targets, f"make {arguments[0]}"
    elif program == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())
        for extra in re.findall(r"cmerl\[([a-z,]+)\]", line):
            assert set(extra.split(",")) <= set(project["project"]["optional-dependencies"]), line
        for group in re.findall(r"--group ([a-z]+)", line):
            assert group in project["dependency-groups"], line
    elif arguments[0] != "-m" and arguments[0].startswith(("benchmarks/", "tools/", "examples/", "tests/")):
        source = (ROOT / arguments[0]).read_text(encoding="utf-8")
        shared = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "benchmarks").glob("*.py"))
        for option in (a.partition("=")[0] for a in arguments[1:] if a.startswith("--")):
            assert f'"{option}"' in source + shared, f"{arguments[0]} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_on_a_page_are_understood(page: Path) -> None:
    for line in commands(page.read_text(encoding="utf-8")):
        read_command(line.replace("…", "x"))


def test_a_command_that_is_wrong_is_found() -> None:
    for line in ("cmerl run x --agnet y", "cmerl theory nothing", "make tset", "pip install 'cmerl[nothing]'"):
        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever its parser raises
            read_command(line)


CONSOLES = [
    (name, block) for page, name in zip(PAGES, NAMES, strict=True) for block in blocks(page.read_text(), "console")
]


@pytest.mark.parametrize(("name", "block"), CONSOLES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CONSOLES)])
def test_a_console_block_shows_what_the_command_prints(
    name: str, block: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        program, *arguments = shlex.split(line)
        assert program == "cmerl", "only cmerl's own commands are tried here"
        with pytest.raises(SystemExit):
            cli.main(arguments)
        out, err = capsys.readouterr()
        printed = [row.rstrip() for row in (err + out).strip().splitlines()]
        assert printed == [row.rstrip() for row in shown.strip().splitlines()]
