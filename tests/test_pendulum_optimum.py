"""The optimum that Pendulum-v1 is measured against: Gymnasium's equations, and no known policy earns more."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import gymnasium
import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def pendulum(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("pendulum_optimum")


@pytest.mark.parametrize(("angle", "speed", "torque"), [(3.0, 7.9, 2.0), (-0.1, 0.3, -1.3), (7.0, -8.0, 0.5)])
def test_a_step_is_that_of_gymnasium(pendulum: ModuleType, angle: float, speed: float, torque: float) -> None:
    env = gymnasium.make("Pendulum-v1")
    env.reset(seed=0)
    env.unwrapped.state = np.array([angle, speed])  # type: ignore[attr-defined]
    reward = env.step(np.array([torque]))[1]
    found = pendulum.move(np.array([angle]), np.array([speed]), torque)
    np.testing.assert_allclose(np.ravel(found), [*env.unwrapped.state, reward], rtol=1e-6)  # type: ignore[attr-defined]


def swung_up(pendulum: ModuleType, angle: float, speed: float) -> float:
    """The return of a policy that pumps energy in, and holds the pendulum where it stands."""
    total = 0.0
    for _ in range(pendulum.HORIZON):
        wrapped = (angle + np.pi) % pendulum.TURN - np.pi
        energy = 0.5 * speed**2 + 15.0 * (np.cos(angle) - 1.0)
        hold = abs(wrapped) < 0.4
        torque = float(np.clip(-12.0 * wrapped - 3.0 * speed if hold else -2.0 * np.sign(energy * speed), -2.0, 2.0))
        angle, speed, reward = (float(part) for part in pendulum.move(np.array(angle), np.array(speed), torque))
        total += reward
    return total


def test_the_optimum_earns_no_less_than_a_policy_by_hand_and_nothing_at_the_top(pendulum: ModuleType) -> None:
    starts = np.array([[0.0, 0.0], [np.pi, 0.0], [2.0, 0.5], [-1.2, -1.0]])
    found = pendulum.optimum(starts, pendulum.values(121))
    assert found[0] == pytest.approx(0.0, abs=0.1)
    by_hand = [swung_up(pendulum, *start) for start in starts]
    assert min(by_hand) > -700.0  # it does swing up: hanging all the time costs almost 2000
    assert np.all(found >= np.array(by_hand) - 0.1)


def test_starts_are_those_of_every_agent(pendulum: ModuleType) -> None:
    found = pendulum.starts(3)
    assert found.shape == (20, 2)
    env = pendulum.Starts()
    pendulum.cmerl.agents.make("greedy", env, seed=3, horizon=5).learn(2)
    np.testing.assert_array_equal(env.seen, found[:2])
