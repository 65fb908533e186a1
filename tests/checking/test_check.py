"""check_env: each fault planted is found, and nothing else; sound environments are clean."""

from __future__ import annotations

import random

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import cmerl
from cmerl.checking import check_env
from cmerl.errors import InputError


class Sound(gymnasium.Env):
    """A point that drifts on [0, 1]² with seeded noise and is paid for where it is; subclasses plant faults."""

    observation_space = spaces.Box(0.0, 1.0, (2,), np.float64)
    action_space = spaces.Discrete(2)
    horizon = 30

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        self.x = np.array([0.5, 0.5])
        return self.observe(), {}

    def step(self, action):
        self.count += 1
        self.x = np.clip(self.x + 0.1 * (2 * action - 1) * self.push() + 0.02 * self.noise(), 0.0, 1.0)
        return self.observe(), self.reward(), False, False, {}

    def push(self):
        return np.array([1.0, 0.3])

    def noise(self):
        return self.np_random.normal(size=2)

    def observe(self):
        return self.x.copy()

    def reward(self):
        return float(self.x[0])


class NanLater(Sound):
    def observe(self):
        return self.x * np.nan if self.count > 11 else self.x.copy()


class NanAtAnExtreme(Sound):
    """Only an action held long enough drives it there."""

    def observe(self):
        return np.sqrt(self.x - 0.005) if self.x[1] > 0.0 else np.array([np.nan, 0.0])


class InfiniteReward(Sound):
    def reward(self):
        return np.inf if self.count == 7 else 0.1 * self.count


class NanReward(Sound):
    def reward(self):
        return float("nan") if self.count == 7 else 0.1 * self.count


class VectorReward(Sound):
    def reward(self):
        return self.x.copy()


class Aliased(Sound):
    """One buffer for all observations."""

    def reset(self, *, seed=None, options=None):
        self.buffer = np.zeros(2)
        return super().reset(seed=seed)

    def observe(self):
        self.buffer[:] = self.x
        return self.buffer


class GlobalNumpy(Sound):
    def noise(self):
        return np.random.normal(size=2)  # noqa: NPY002 - the fault


class GlobalPython(Sound):
    def noise(self):
        return random.gauss(0.0, 1.0) * np.ones(2)


class DrawsInVain(Sound):
    def noise(self):
        random.random()
        return super().noise()


class NeverSeeded(Sound):
    def __init__(self):
        self.rng = np.random.default_rng(5)

    def noise(self):
        return self.rng.normal(size=2)


class Wears(Sound):
    """What an episode far to the right does to it stays."""

    worn = 0.0

    def reset(self, *, seed=None, options=None):
        if hasattr(self, "x") and self.x[0] == 1.0:
            self.worn = 0.4
        return super().reset(seed=seed)

    def push(self):
        return np.array([1.0 - self.worn, 0.3])


class OutOfBounds(Sound):
    def observe(self):
        return self.x * 3.0


class WrongShape(Sound):
    def observe(self):
        return self.x[:1].copy() if self.count == 3 else self.x.copy()


class IntegerFlags(Sound):
    def step(self, action):
        obs, reward, _, _, info = super().step(action)
        return obs, reward, 0, None, info


class Crashes(Sound):
    def step(self, action):
        if self.count == 9:
            raise ZeroDivisionError("by zero")
        return super().step(action)


class ChangesActions(Sound):
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def step(self, action):
        action *= 0.5
        return super().step(action[0])


class CutsShort(Sound):
    def step(self, action):
        obs, reward, terminated, _, info = super().step(action)
        return obs, reward, terminated, self.count == 10, info


class NeverChanges(Sound):
    def observe(self):
        return np.array([0.5, 0.5])


class NeverPays(Sound):
    def reward(self):
        return 0.0


class NoHorizon(Sound):
    horizon = None


class Unreadable(Sound):
    observation_space = spaces.Sequence(spaces.Discrete(2))

    def observe(self):
        return (self.count % 2, 1)


class Unbounded(Sound):
    action_space = spaces.Box(-np.inf, np.inf, (1,))

    def step(self, action):
        return super().step(np.tanh(action[0]))


FAULTS = [
    (NanLater, "error", "nan observation"),
    (NanAtAnExtreme, "error", "nan observation"),
    (InfiniteReward, "error", "infinite reward"),
    (NanReward, "error", "infinite reward"),
    (VectorReward, "error", "reward type"),
    (Aliased, "warning", "aliasing"),
    (GlobalNumpy, "warning", "global randomness"),
    (GlobalPython, "warning", "global randomness"),
    (DrawsInVain, "note", "global generator"),
    (NeverSeeded, "warning", "not reproducible"),
    (Wears, "error", "stateful reset"),
    (OutOfBounds, "warning", "outside the space"),
    (WrongShape, "error", "observation"),
    (IntegerFlags, "warning", "flag type"),
    (Crashes, "error", "exception"),
    (ChangesActions, "warning", "action changed"),
    (NeverChanges, "warning", "constant observation"),
    (NeverPays, "note", "constant reward"),
    (NoHorizon, "warning", "horizon"),
    (Unreadable, "error", "observation space"),
    (Unbounded, "error", "action space"),
]


@pytest.mark.parametrize(("world", "severity", "name"), FAULTS, ids=lambda x: getattr(x, "__name__", None))
def test_each_fault_is_found_and_nothing_else(world, severity, name):
    report = check_env(world())
    assert [(f.severity, f.name) for f in report] == [(severity, name)]
    assert report.ok == (severity == "note")
    finding = report.findings[0]
    assert finding.what in str(report)
    assert finding.fix in str(report)


def test_where_a_fault_was_is_said():
    assert "step 12" in str(check_env(NanLater()))
    assert "step 7" in str(check_env(InfiniteReward()))
    assert "step 10" in str(check_env(Crashes()))
    assert "numpy.random" in str(check_env(GlobalNumpy()))


def test_an_episode_cut_before_the_horizon_is_found():
    assert check_env(gymnasium.wrappers.TimeLimit(CutsShort(), 30)).names == ["truncated early"]
    assert check_env(gymnasium.wrappers.TimeLimit(Sound(), 20), horizon=30).names == ["horizon"]


@pytest.mark.parametrize(
    "env",
    [
        "CartPole-v1",
        "MountainCar-v0",
        "MountainCarContinuous-v0",
        "Pendulum-v1",
        "Acrobot-v1",
        "FrozenLake-v1",
        "CliffWalking-v1",
        "Taxi-v4",
        "cmerl/RiverSwim-v0",
        "cmerl/PBall2D-v0",
    ],
)
def test_sound_environments_are_clean(env):
    report = check_env(gymnasium.make(env), horizon=50 if env == "CliffWalking-v1" else None)
    assert report.ok, str(report)
    assert set(report.choices) == {"observations", "actions", "horizon"}


def test_a_sound_environment_of_ones_own_is_clean_and_the_report_is_ready_for_json():
    report = cmerl.check_env(Sound())
    assert report.ok
    assert len(report) == 0
    assert "nothing to complain about" in str(report)
    assert report.as_dict()["findings"] == []
    assert report.choices["observations"] == "2 numbers scaled by their bounds"
    assert report.steps == 120


def test_global_generators_are_left_as_they_were():
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    expected = random.random(), np.random.random()  # noqa: NPY002
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    check_env(Sound())
    assert (random.random(), np.random.random()) == expected  # noqa: NPY002


def test_what_is_no_environment_is_refused():
    with pytest.raises(InputError, match=r"gymnasium\.make"):
        check_env("CartPole-v1")


@pytest.mark.parametrize(("option", "value"), [("horizon", 0), ("horizon", 2.5), ("seed", -1)])
def test_a_callers_mistake_is_not_a_finding_about_the_environment(option, value):
    with pytest.raises(InputError, match=f"{option} must be an integer"):
        check_env(Sound(), **{option: value})


def test_a_reset_that_fails_is_said_and_no_step_was_played():
    class NoReset(Sound):
        def reset(self, *, seed=None, options=None):
            raise OSError("no such simulator")

    report = check_env(NoReset())
    assert report.names == ["exception"]
    assert "reset of an episode raised OSError: no such simulator" in str(report)
    assert report.steps == 0
