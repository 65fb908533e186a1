"""For all tests: names that one registers are forgotten, and on a busy machine an example may take its time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from cmerl.agents import catalogue

# On top of what Hypothesis sets for continuous integration.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _own_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents that a test or a page registers end with it; tests share processes, in an order that varies."""
    monkeypatch.setattr(catalogue, "_FACTORIES", dict(catalogue._FACTORIES))
