"""Environments that raise or take their process down: told in a sentence, retried on resume, harmless to others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import worlds

from cmerl import experiments
from cmerl.cli import main

MODULE = '''
import os
import gymnasium
from cmerl.envs import RiverSwim

class Failing(RiverSwim):
    """Dies at once or raises in the fourth episode, as the file that is named by the option says, if it is there."""

    def __init__(self, switch, **options):
        super().__init__(**options)
        self.switch, self.resets = switch, 0

    def reset(self, *, seed=None, options=None):
        self.resets += 1
        deed = open(self.switch).read() if os.path.exists(self.switch) else ""
        if deed == "die":
            os._exit(3)
        if deed == "raise" and self.resets == 4:
            raise RuntimeError("the pump\\nis broken")
        return super().reset(seed=seed, options=options)

gymnasium.register(id="Failing-v0", entry_point=Failing)
'''


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "failing_world.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    return tmp_path / "switch"


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("raise", "episode 3, step 0: the environment's reset raised RuntimeError: the pump is broken"),
        ("die", "its worker was killed 3 times in one episode; is memory short?"),
    ],
)
def test_a_world_that_fails_is_told_and_goes_on_once_it_is_mended(switch: Path, deed: str, reason: str) -> None:
    switch.write_text(deed)
    results = experiments.run(
        environments=[{"id": "Failing-v0", "label": "failing", "options": {"switch": str(switch)}}, "cmerl/Chain-v0"],
        agents=["random"],
        episodes=5,
        jobs=1,
        allow_env_modules=["failing_world"],
        out=switch.parent / "run",
    )
    assert [(failure["env"], failure["message"]) for failure in results.failures] == [("failing", reason)]
    counts = [sum(line["env"] == env for line in results.episodes) for env in ("failing", "cmerl/Chain-v0")]
    assert counts == [3 if deed == "raise" else 0, 5]

    switch.unlink()
    mended = experiments.resume(results.directory, allow_env_modules=["failing_world"])
    assert mended.finished
    assert mended.failures == []
    assert len(mended.episodes) == 10


def test_a_failure_names_the_line_that_raised_and_where_its_traceback_is(
    switch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    switch.write_text("raise")
    spec = switch.parent / "spec.json"
    world = {"id": "Failing-v0", "label": "failing", "options": {"switch": str(switch)}}
    agents, modules = ["random"], ["failing_world"]
    settings = {"episodes": 5, "seeds": 2, "jobs": 1, "allow_env_modules": modules}
    spec.write_text(json.dumps({"environments": [world], "agents": agents, **settings}))
    run = switch.parent / "run"
    with pytest.raises(SystemExit) as end:
        main(["run", str(spec), "--out", str(run)])
    assert end.value.code == 1
    out, told = capsys.readouterr()
    assert out.splitlines()[1].split()[:6] == ["failing", "random", "2", "3", "of", "5"]
    line = 1 + MODULE.splitlines().index('            raise RuntimeError("the pump\\nis broken")')
    assert told.count("failing · random · seeds 0, 1 failed: episode 3, step 0: the environment's reset raised") == 1
    place = f'failing_world.py, line {line}, in reset: raise RuntimeError("the pump\\nis broken")'
    assert place in told
    assert f"2 of 2 runs failed: the tracebacks are in {run / 'run.log'}; once the cause is mended" in told
    assert f"cmerl resume {run} --allow-env-module failing_world goes on" in told
    assert (run / "run.log").read_text().count('raise RuntimeError("the pump\\nis broken")') == 2
    results = experiments.load(run)
    assert [(f["seed"], f["episodes"], place in f["where"]) for f in results.failures] == [(0, 3, True), (1, 3, True)]
    assert "2 failed" in repr(results)


def test_an_observation_that_cannot_say_its_name_is_refused_in_every_room() -> None:
    for name in ("cme-rl", "ucbvi"):
        assert worlds.play_oddly("object", name, True, seed=0) == "refused with its place"


def test_what_environments_warn_of_is_in_the_log_not_between_the_bars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nagging.py").write_text(
        "import warnings\nimport gymnasium\nfrom cmerl.envs import RiverSwim\n"
        "class Nagging(RiverSwim):\n"
        "    def reset(self, **options):\n"
        "        warnings.warn('the sensor is old', DeprecationWarning)\n"
        "        return super().reset(**options)\n"
        "gymnasium.register('Nagging-v0', entry_point=Nagging)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    options = ["--agent", "random", "--episodes", "1", "--seeds", "2", "--jobs", "1", "--allow-env-module", "nagging"]
    with pytest.raises(SystemExit):
        main(["run", "Nagging-v0", *options, "--out", str(tmp_path / "run")])
    assert "the sensor is old" not in "".join(capfd.readouterr())
    assert "the sensor is old" in (tmp_path / "run" / "run.log").read_text()
