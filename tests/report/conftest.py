"""A run made by hand, and its page."""

from __future__ import annotations

import pytest
import rundirs

from cmerl.report import html, rundir


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> rundir.RunDirectory:
    return rundir.read(rundirs.make(tmp_path_factory.mktemp("run"), seeds=4, episodes=60))


@pytest.fixture(scope="session")
def page(run) -> str:
    return html.render(run)
