"""`cmerl run`: the first experiment as typed, modules of one's own, and missing extras."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_the_first_experiment_works_as_typed(tmp_path: Path, call: Any) -> None:
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

    code, stdout, _ = call("resume", out)
    assert code == 0
    assert stdout == done.stdout


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


def test_without_ray_no_run_directory_is_left(tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = call("run", "cmerl/RiverSwim-v0", "--engine", "ray", "--out", tmp_path / "run")
    assert code == 2
    assert err == "cmerl: engine 'ray' needs the extra: pip install 'cmerl[ray]'\n"
    assert list(tmp_path.iterdir()) == []
