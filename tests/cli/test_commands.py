"""The command line as a person meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import cmerl
from cmerl.cli import COMMANDS, app, main


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, out, err


def test_help_imports_neither_numpy_nor_gymnasium() -> None:
    code = (
        "import sys; from cmerl.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print('HEAVY', sorted({'numpy', 'gymnasium', 'scipy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
    assert "cmerl run cmerl/RiverSwim-v0" in done.stdout


def test_every_command_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for name in app().commands:
        assert name in COMMANDS
        code, out, _ = call(capsys, name, "--help")
        assert code == 0
        assert f"cmerl {name}" in out.partition("Examples:")[2]


@pytest.mark.parametrize("group", [[], ["theory"]])
def test_no_line_of_the_help_is_cut_off(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, *group, "--help")
    assert len(out.partition("Commands:\n")[2].splitlines()) >= 4
    assert "..." not in out.partition("Commands:\n")[2]


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version") == (0, f"cmerl {cmerl.__version__}\n", "")


def test_the_first_experiment_works_as_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["cmerl/RiverSwim-v0", "--agent", "cme-rl", "--agent", "random", "--episodes", "3", "--seeds", "2"]
    out = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-m", "cmerl", "run", *arguments, "--jobs", "2", "--out", str(out)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 4  # a line for each unit, and no bars where there is no terminal
    assert "cmerl/RiverSwim-v0 · random · seed 1: 3 episodes" in done.stderr
    assert done.stdout.splitlines()[0].startswith("environment")
    assert done.stdout.splitlines()[-1] == f"results in {out}"
    assert len((out / "episodes.jsonl").read_text().splitlines()) == 12
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["command"] == f"cmerl run {' '.join(arguments)} --jobs 2 --out {out}"

    code, stdout, _ = call(capsys, "resume", out)
    assert code == 0
    assert stdout == done.stdout


def test_a_folder_of_runs_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "cmerl/Chain-v0", "--agent", "random", "--episodes", "1", "--jobs", "1"]
    assert call(capsys, *arguments, "--out", tmp_path / "first")[0] == 0
    for command in ("resume", "report"):
        code, _, err = call(capsys, command, tmp_path)
        assert code == 2
        assert "is not a run directory: it h" in err
        assert err.endswith(f"; there is one in {tmp_path / 'first'}\n")


def test_the_table_fits_a_narrow_terminal_and_says_what_few_seeds_are_worth() -> None:
    from cmerl.cli.session import few_seeds, table

    estimate = {"mean": 1234.5, "low": 1200.25, "high": 1300.75}
    row = {"env": "cmerl/RiverSwim-v0", "agent": "cme-rl", "seeds": 3, "episodes": 100, "return": estimate}
    summary = {"results": [{**row, "cumulative_regret": None, "seconds_per_episode": 0.0123}]}
    assert len(table(summary).splitlines()) == 2
    assert table(summary, 120) == table(summary)
    narrow = table(summary, 60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.splitlines() == [
        "cmerl/RiverSwim-v0 · cme-rl",
        "  seeds              3",
        "  episodes           100",
        "  mean return        1234 [1200, 1301]",
        "  s / episode        0.0123",
    ]
    assert "too narrow" in few_seeds(summary)
    for seeds in (1, 6):  # one has no interval, six have a good one
        summary["results"][0]["seeds"] = seeds
        assert few_seeds(summary) == ""


def test_a_unit_that_fails_is_told_and_the_exit_code_is_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'environments = ["cmerl/Chain-v0"]\nepisodes = 3\njobs = 1\n'
        '[[agents]]\nname = "cme-rl"\nlabel = "narrow"\noptions = {reward_range = [0, 1e-9]}\n'
    )
    code, _, err = call(capsys, "run", spec, "--out", tmp_path / "run")
    assert code == 1
    assert "cmerl: cmerl/Chain-v0 · narrow · seed 0 failed: episode 0, step" in err
    assert "Traceback" not in err


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
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert wanted in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []  # nothing was begun


@pytest.mark.parametrize("group", [[], ["theory"]])
def test_without_a_command_the_help_is_shown_as_it_stands(
    group: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, wanted, _ = call(capsys, *group, "--help")
    code, _, shown = call(capsys, *group)
    assert code == 2
    assert shown.strip() == wanted.strip()


def test_worlds_come_first_among_environments(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "envs")
    assert code == 0
    head, *rows = (line.split() for line in out.splitlines())
    assert head == ["environment", "horizon", "module"]
    assert rows[0][0].startswith("cmerl/")
    horizons = {id: horizon for id, horizon, _ in rows}
    assert horizons["cmerl/RiverSwim-v0"] == "20"
    assert horizons["cmerl/DeepSea-v0"] == str(cmerl.envs.DeepSea().horizon)
    assert horizons["CartPole-v1"] == "500"
    (cliff,) = (horizon for id, horizon in horizons.items() if id.startswith("CliffWalking-v"))  # v0 or v1
    assert cliff == "–"
    assert "GymV21Environment-v0" not in horizons  # needs a package that is not there
    assert "Ant-v2" not in horizons  # was withdrawn
    code, out, _ = call(capsys, "envs", "mountain")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["MountainCar-v0", "MountainCarContinuous-v0"]
    code, out, _ = call(capsys, "envs", "Taxi")  # shorter than the head of its column
    head, *rows = out.splitlines()
    assert {row.index("gymnasium") for row in rows} == {head.index("module")}


def test_agents_are_listed_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "agents")
    assert code == 0
    assert "cme-rl: Reinforcement learning with conditional mean embeddings" in out
    assert "bonus" in out
    assert [line.partition(":")[0] for line in out.splitlines() if line[0] != " "] == cmerl.agents.names()


def test_every_option_of_every_agent_has_a_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "agents")
    options = [line for line in out.splitlines() if line.startswith("    ")]
    assert [line for line in options if "  " not in line.strip()] == []
    assert " at 0x" not in out  # a function is told by its name
    assert "    B_V: float | Auto = 'auto'  see B_P" in options


def test_examples_in_help_keep_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from cmerl.cli import theory

    for name in ("gain", "radius", "regret", "pac"):
        _, out, _ = call(capsys, "theory", name, "--help")
        examples = (getattr(theory, name).__doc__ or "").partition("Examples:\n")[2].split("\n")
        for example in examples:
            assert example.strip() in [line.strip() for line in out.splitlines()]


def test_a_module_in_the_current_directory_can_be_allowed(tmp_path: Path) -> None:
    (tmp_path / "my_plant.py").write_text(
        "import gymnasium\nfrom cmerl.envs import RiverSwim\n"
        "gymnasium.register('MyPlant-v0', entry_point='my_plant:RiverSwim')\n"
    )
    script = "from cmerl.cli import main; import sys; main(sys.argv[1:])"  # as the command cmerl: no '' in sys.path
    options = [
        "--allow-env-module",
        "my_plant",
        "--agent",
        "random",
        "--episodes",
        "2",
        "--jobs",
        "1",
        "--out",
        "run",
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, "run", "MyPlant-v0", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "run" / "episodes.jsonl").read_text().splitlines()) == 2


def test_without_ray_no_run_directory_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = call(capsys, "run", "cmerl/RiverSwim-v0", "--engine", "ray", "--out", tmp_path / "run")
    assert code == 2
    assert err == "cmerl: engine 'ray' needs the extra: pip install 'cmerl[ray]'\n"
    assert list(tmp_path.iterdir()) == []


def test_one_agent_is_told_with_types_defaults_and_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "agents", "psrl")
    assert code == 0
    assert "    prior_weight: float = 1.0  total weight of the transition prior, in transitions" in out
    assert "    reward_range: tuple[float, float] = (0.0, 1.0)  (lo, hi) of all rewards" in out
    code, out, err = call(capsys, "agents", "prsl")
    assert (code, out) == (2, "")
    assert "there is no agent 'prsl': did you mean 'psrl'?" in err
