"""A run of two agents in two environments, with one worker."""

from __future__ import annotations

import pytest
from small_runs import RUN

from cmerl import experiments


@pytest.fixture(scope="session")
def one_job(tmp_path_factory: pytest.TempPathFactory) -> experiments.Results:
    return experiments.run(RUN, jobs=1, out=tmp_path_factory.mktemp("run") / "one")
