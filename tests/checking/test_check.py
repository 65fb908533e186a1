"""check_env: each fault planted is found, and nothing else; sound environments are clean."""

from __future__ import annotations

import random

import gymnasium
import numpy as np
import pytest
from drifting import NanLater, NeverPays, Sound, Wide
from gymnasium import spaces

import cmerl
from cmerl.checking import check_env
from cmerl.checking.check import LONGEST
from cmerl.errors import InputError


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


class NoHorizon(Sound):
    horizon = None


class Unreadable(Sound):
    class Odd(spaces.Space):
        def contains(self, x):
            return True

    observation_space = Odd()

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


def test_an_agent_says_what_it_sees_of_an_image(caplog):
    class Image(Sound):
        observation_space = spaces.Box(0, 255, (16, 16), np.uint8)

        def observe(self):
            return np.full((16, 16), round(100 * self.x[0]), dtype=np.uint8)

    assert [(f.severity, f.name) for f in check_env(Image())] == [("warning", "picture")]
    assert caplog.text == ""
    cmerl.CMERL(Image())
    assert "the observation is an image of shape (16, 16): each of its 256 numbers is a category" in caplog.text
    assert "FeatureMap" in caplog.text


def test_a_horizon_is_suggested_from_what_was_seen():
    class Short(NoHorizon):
        def step(self, action):
            *seen, _, truncated, info = super().step(action)
            return *seen, self.count >= 17, truncated, info

    (finding,) = check_env(Short())
    assert "--horizon 17 (horizon=17)" in finding.fix
    assert f"no episode ended by itself within {LONGEST} steps" in check_env(NoHorizon()).findings[0].fix


@pytest.mark.parametrize("world", [NanLater, NanAtAnExtreme, InfiniteReward, Crashes, OutOfBounds, WrongShape])
def test_what_was_found_can_be_seen_again(world):
    (finding,) = check_env(world(), seed=5)
    env = world()
    seen = []
    for name in ("reset", "step"):
        ask = getattr(env, name)

        def watched(*args, ask=ask, **options):
            seen.append(ask(*args, **options))
            return seen[-1]

        setattr(env, name, watched)
    error = None
    try:
        with np.errstate(all="ignore"):
            exec(finding.replay, {"env": env, "np": np})
    except ZeroDivisionError as raised:
        error = raised
    obs, reward = seen[-1][0], (0.0 if len(seen[-1]) == 2 else seen[-1][1])
    sound = np.isfinite(obs).all() and env.observation_space.contains(obs.astype(np.float32)) and np.isfinite(reward)
    assert error is not None or not sound


def test_where_a_fault_was_is_said():
    assert "step 11 of episode 0" in str(check_env(NanLater()))
    assert "step 6 of episode 0" in str(check_env(InfiniteReward()))
    assert "step 9 of episode 0 raised" in str(check_env(Crashes()))
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
    assert "the reset of episode 0 raised OSError: no such simulator" in str(report)
    assert report.steps == 0


# --- what is played, and what is no fault --------------------------------------------------------------------


class Recorded(Sound):
    """Writes down the actions of every episode."""

    def __init__(self):
        self.actions = []

    def reset(self, *, seed=None, options=None):
        self.actions.append([])
        return super().reset(seed=seed)

    def step(self, action):
        self.actions[-1].append(int(action))
        return super().step(action)


def test_random_actions_are_played_twice_then_each_extreme_and_then_the_first_again():
    env = Recorded()
    check_env(env)
    first, second, low, high, *again = env.actions
    assert first != second
    assert set(first) == set(second) == {0, 1}
    assert (low, high) == ([0] * 30, [1] * 30)
    assert again == [first] * 3


def test_an_exception_ends_the_check():
    class CrashesOnce(Recorded):
        def step(self, action):
            obs, *rest = super().step(action)
            if len(self.actions) == 1 and self.count == 9:
                raise ZeroDivisionError("by zero")
            return obs, *rest

    env = CrashesOnce()
    assert check_env(env).names == ["exception"]
    assert len(env.actions) == 1


@pytest.mark.parametrize("flag", ["terminated", "truncated"])
def test_an_episode_is_not_played_on_after_its_end(flag):
    class Ends(Sound):
        horizon = 10

        def step(self, action):
            assert self.count < 10
            obs, reward, *_ = super().step(action)
            over = np.bool_(self.count == 10)  # NumPy's flags are as good as Python's
            return obs, reward, over and flag == "terminated", over and flag == "truncated", {}

    report = check_env(Ends(), horizon=10 if flag == "truncated" else 30)
    assert report.names == []
    assert report.steps == 40


def test_how_early_an_episode_was_cut_is_said_and_an_end_at_that_step_is_none():
    class Cut(Sound):
        ended = False

        def step(self, action):
            obs, reward, *_, info = super().step(action)
            return obs, reward, self.ended and self.count == 29, self.count == 29, info

    assert "after 29 of 30 steps" in str(check_env(Cut()))
    Cut.ended = True
    assert check_env(Cut()).names == []


def test_durations_are_measured_and_slow_steps_said(monkeypatch):
    monkeypatch.setattr("cmerl.checking.check.SLOW_STEP", 0.0)
    report = check_env(Sound())
    assert report.names == ["slow steps"]
    assert report.as_dict()["seconds_per_step"] > 0.0
    assert report.as_dict()["seconds_per_reset"] > 0.0


def test_text_is_named_by_its_path_and_many_columns_are_noted():
    class Wordy(Sound):
        observation_space = spaces.Dict(
            {"at": spaces.Box(0.0, 1.0, (2,), np.float64), "said": spaces.Tuple([spaces.Text(9), spaces.Discrete(2)])}
        )

        def observe(self):
            return {"at": self.x.copy(), "said": ("hello", 1)}

    report = check_env(Wordy())
    assert report.names == ["objects"]
    assert "part 'said.0' is a Text, compared by Spectrum" in str(report)
    assert check_env(Wide()).names == ["many columns"]


def test_a_picture_is_said_to_be_categories_or_one_object():
    class Codes(Sound):
        observation_space = spaces.Box(0, 255, (6, 6), np.uint8)

        def observe(self):
            return np.full((6, 6), round(100 * self.x[0]), dtype=np.uint8)

    class Photo(Sound):
        observation_space = spaces.Box(0, 255, (64, 64, 3), np.uint8)

        def observe(self):
            return np.full((64, 64, 3), round(100 * self.x[0]), dtype=np.uint8)

    small, large = check_env(Codes()), check_env(Photo())
    assert [(f.severity, f.name) for f in small] == [("note", "picture")]
    assert "an image of shape (6, 6): each of its 36 numbers is a category" in str(small)
    assert [(f.severity, f.name) for f in large] == [("warning", "picture")]
    assert "FeatureMap" in str(large)


@pytest.mark.parametrize("shift", [3.0, -3.0])
def test_the_number_that_is_furthest_outside_is_said(shift):
    class Leaves(Sound):
        def observe(self):
            return self.x + np.array([0.0, shift])

    report = check_env(Leaves())
    assert report.names == ["outside the space"]
    assert f"at the reset of episode 0: {0.5 + shift:g} is outside of [0, 1]" in str(report)


def test_rounding_is_not_outside_the_space():
    class Rounds(Sound):
        def observe(self):
            return self.x + np.array([5e-6, -5e-6]) * np.sign(self.x - 0.5)

    assert check_env(Rounds()).names == []


def test_a_reward_that_is_an_array_of_one_number_is_noted():
    class ArrayReward(Sound):
        def reward(self):
            return np.array(self.x[0])

    assert check_env(ArrayReward()).names == ["reward array"]


@pytest.mark.parametrize(("flags", "wrong"), [((0, False), "terminated"), ((False, None), "truncated")])
def test_either_flag_must_be_a_bool(flags, wrong):
    class Flags(Sound):
        def step(self, action):
            obs, reward, *_, info = super().step(action)
            return obs, reward, *flags, info

    report = check_env(Flags())
    assert report.names == ["flag type"]
    assert f"{wrong} at step 0 of episode 0" in str(report)


def test_few_steps_say_nothing_about_constants():
    class Short(NeverPays):
        horizon = 4

        def observe(self):
            return np.array([0.5, 0.5])

    assert check_env(Short()).names == []


def test_where_an_array_was_changed_is_said():
    assert "the observation of the reset was changed" in str(check_env(Aliased()))
    assert "step 0 changed the action" in str(check_env(ChangesActions()))
