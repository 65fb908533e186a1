"""Values that climb late are noticed, and learning is not mistaken for it."""

from __future__ import annotations

import logging

import gymnasium
import numpy as np
import pytest

from cmerl.agents import CMERL
from cmerl.agents.value_drift import late_rise


def test_falling_or_level_values_do_not_rise() -> None:
    assert late_rise(np.linspace(20.0, 10.0, 200)) == pytest.approx(0.0, abs=1e-9)
    assert late_rise([10.0] * 200) == pytest.approx(0.0, abs=1e-9)


def test_an_early_rise_is_learning() -> None:
    assert late_rise([*np.linspace(0.0, 10.0, 49)]) == 0.0
    assert late_rise([*np.linspace(0.0, 10.0, 50), *[10.0] * 100]) == pytest.approx(0.0, abs=1e-9)


def test_a_late_rise_is_the_distance_from_its_lowest_level() -> None:
    values = [10.0] * 150 + [16.0] * 10
    assert late_rise(values) == pytest.approx(6.0)


def test_the_agent_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    agent = CMERL(gymnasium.make("cmerl/RiverSwim-v0")).learn(60)
    assert agent.diagnostics()["late rise of V1"] < 0.1 * agent.horizon
    for i, record in enumerate(agent.history):
        record.metrics["value"] = 5.0 if i < 50 else 15.0
    with caplog.at_level(logging.WARNING, logger="cmerl"):
        agent.learn(2)
    assert len([r for r in caplog.records if "risen" in r.message]) == 1
