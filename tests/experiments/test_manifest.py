"""The manifest of a run can repeat it."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from small_runs import RUN, timeless

import cmerl
from cmerl import experiments
from cmerl.experiments.manifest import versions
from cmerl.experiments.spec import parse


def test_the_manifest_can_repeat_the_run(one_job: experiments.Results, tmp_path: Path) -> None:
    manifest = one_job.manifest
    assert manifest["seeds"] == [0, 5]
    assert manifest["threads"] == 1
    assert manifest["jitter"] == 0.0
    assert manifest["versions"]["cmerl"] == cmerl.__version__
    assert manifest["blas"]
    again = experiments.run(one_job.directory / "manifest.json", out=tmp_path / "again")
    assert timeless(again.directory / "episodes.jsonl") == timeless(one_job.directory / "episodes.jsonl")


def test_versions_are_of_installed_packages_and_of_the_engine() -> None:
    spec = parse({**RUN, "allow_env_modules": ["minigrid.envs", "nobodys_module"]})
    found = versions(spec)
    assert found["numpy"] == version("numpy")
    assert found["minigrid.envs"] == version("minigrid")
    assert "nobodys_module" not in found
    assert "ray" not in found
    assert ("ray" in versions(parse({**RUN, "engine": "ray"}))) == (find_spec("ray") is not None)
