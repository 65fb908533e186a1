"""The command line as a person meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cmerl
from cmerl.cli import COMMANDS, app


def test_help_imports_neither_numpy_nor_gymnasium() -> None:
    code = (
        "import sys; from cmerl.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print('HEAVY', sorted({'numpy', 'gymnasium', 'scipy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
    assert "cmerl run cmerl/RiverSwim-v0" in done.stdout


def test_every_command_has_help_with_an_example(call: Any) -> None:
    for name in app().commands:
        assert name in COMMANDS
        code, out, _ = call(name, "--help")
        assert code == 0
        assert f"cmerl {name}" in out.partition("Examples:")[2]


@pytest.mark.parametrize("group", [[], ["theory"]])
def test_no_line_of_the_help_is_cut_off(group: list[str], call: Any) -> None:
    _, out, _ = call(*group, "--help")
    assert len(out.partition("Commands:\n")[2].splitlines()) >= 4
    assert "..." not in out.partition("Commands:\n")[2]


def test_the_version_is_told(call: Any) -> None:
    assert call("--version") == (0, f"cmerl {cmerl.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run"], "cmerl: Missing argument 'ENV_OR_SPEC'. See cmerl run --help."),
        (["run", "cmerl/RiverSwim-v0", "--episodes", "x"], "cmerl: Invalid value for '--episodes': "),
        (["run", "cmerl/RiverSwim-v0", "--episodes", "0"], "cmerl: command line: episodes must be a whole number"),
        (["run", "cmerl/RiverSwim-v0", "--episods", "5"], "cmerl: No such option"),
        (["run", "cmerl/RiverSwim-v0", "--engine", "spark"], "engine cannot be 'spark': there are local, ray"),
        (["run", "cmerl/RiverSwim-v0", "--log-level", "loud"], "'loud' must be one of debug, info, warning, error"),
        (["run", "nothing.toml"], "cmerl: there is no file 'nothing.toml'"),
        (["run", "RiverSwim"], "cmerl: there is no environment 'RiverSwim': did you mean 'cmerl/RiverSwim-v0'?"),
        (["run", "MountainCar-v0", "--horizon", "300"], "cuts episodes after 200 steps, before the horizon of 300"),
        (["run", "CartPole-v1", "--agent", "rnadom"], "cmerl: there is no agent 'rnadom': did you mean 'random'?"),
        (["resume", "nothing"], "cmerl: there is no directory 'nothing'"),
        (["resume", "."], "is not a run directory"),
        (["check", "CartPole-v1", "--horizon", "0"], "cmerl: horizon must be an integer of at least 1"),
        (["envs", "zzzz"], "cmerl: no environment's id contains 'zzzz': cmerl envs lists all"),
        (["rnu"], "cmerl: No such command 'rnu'"),
        (["rnu"], "There are run, resume, report,"),
        (["theory", "information-gain"], "There are gain, radius, regret, pac."),
        (["theory", "regret", "--env", "RiverSwim"], "there is no environment 'RiverSwim': did you mean"),
        (
            ["check", "my/plant.py"],
            "'my/plant.py' is a file: give the id that it registers, and --allow-env-module plant",
        ),
        (["envs", "plant"], "with --allow-env-module M those of module M"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_mistake_gives_one_sentence_and_exit_code_2(
    arguments: list[str],
    wanted: str,
    call: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert wanted in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []  # nothing was begun


@pytest.mark.parametrize("group", [[], ["theory"]])
def test_without_a_command_the_help_is_shown_as_it_stands(group: list[str], call: Any) -> None:
    _, wanted, _ = call(*group, "--help")
    code, _, shown = call(*group)
    assert code == 2
    assert shown.strip() == wanted.strip()


def test_examples_in_help_keep_their_lines(call: Any) -> None:
    from cmerl.cli import theory

    for name in ("gain", "radius", "regret", "pac"):
        _, out, _ = call("theory", name, "--help")
        examples = (getattr(theory, name).__doc__ or "").partition("Examples:\n")[2].split("\n")
        for example in examples:
            assert example.strip() in [line.strip() for line in out.splitlines()]
