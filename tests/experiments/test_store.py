"""Run directories: not written over, and cleared of what killed writers left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_runs import RUN

from cmerl import experiments
from cmerl.errors import InputError


def test_a_directory_with_a_run_is_not_written_over(one_job: experiments.Results) -> None:
    with pytest.raises(InputError, match="holds a run already: continue it with cmerl resume"):
        experiments.run(RUN, out=one_job.directory)


def test_what_killed_writers_left_behind_goes_when_a_run_is_resumed(
    one_job: experiments.Results, tmp_path: Path
) -> None:
    """A kill −9 between the first byte of a file and its renaming leaves the file that is not whole."""
    directory, victim = tmp_path / "run", tmp_path / "victim"
    shutil.copytree(one_job.directory, directory)
    before = sorted(path.name for path in directory.rglob("*"))
    victim.write_text("precious")
    (directory / ".summary.json.a1b2.partial").write_text('{"half')
    (directory / ".manifest.json.c3.partial").symlink_to(victim)
    (directory / ".mine.partial").write_text("not of this run")
    experiments.resume(directory)
    assert sorted(path.name for path in directory.rglob("*")) == sorted([*before, ".mine.partial"])
    assert victim.read_text() == "precious"
