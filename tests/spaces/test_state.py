"""Observations as rows: they come back as they were, and what is no observation is refused."""

import json

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.errors import InputError
from cmerl.spaces import StateSpace


class Shifted(gymnasium.Env):
    """States 5, 6, 7 and actions 2, 3: action 3 moves up and pays in state 7, anything else moves down."""

    observation_space = spaces.Discrete(3, start=5)
    action_space = spaces.Discrete(2, start=2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 5
        return self.state, {}

    def step(self, action):
        assert action in (2, 3)
        reward = float(self.state == 7 and action == 3)
        self.state = int(np.clip(self.state + (1 if action == 3 else -1), 5, 7))
        return self.state, reward, False, False, {}


def test_spaces_that_do_not_start_at_zero():
    agent = CMERL(Shifted(), horizon=4, seed=0).learn(15)
    assert [agent.predict(s, explore=False) for s in (5, 6, 7)] == [3, 3, 3]
    assert agent.history[-1].ret == 2.0
    assert agent.q_values(7, 3) == pytest.approx([0.0, 1.0], abs=0.2)
    for wrong in (4, 8, 0):
        with pytest.raises(InputError, match="5 to 7"):
            agent.predict(wrong)


def test_a_provable_mode_counts_their_states():
    agent = CMERL(Shifted(), horizon=4, bonus="tight", reward=lambda s, a: float(s == 7 and a == 3))
    # n = 0: B_V = (H−1−h)√(S+1) with S = 3 and the end, B_P² = SA = 6, D²/2 = 1, λ = 1
    bonus = 3 * np.sqrt(4) * np.sqrt(6 + np.log(2 / 0.1))
    np.testing.assert_allclose(agent.q_values(7), [bonus, bonus + 1])


def test_matrices_are_flattened_and_come_back():
    space = spaces.Box(-1.0, 3.0, (2, 2), np.float64)
    states, obs = StateSpace.of(space), np.array([[0.0, 1.0], [2.0, -1.0]])
    row = states.encode(obs)
    assert row.shape == (1, 4)
    np.testing.assert_allclose(states.decode(row)[0], obs)


@pytest.mark.parametrize(
    ("space", "obs"),
    [
        (spaces.Discrete(4, start=2), 3),
        (spaces.MultiDiscrete([3, 4]), np.array([2, 3])),
        (spaces.MultiBinary(2), np.array([1, 0])),
    ],
)
def test_whole_numbers_come_back_as_whole_numbers(space, obs):
    states = StateSpace.of(space)
    back = states.decode(states.encode(obs))[0]
    np.testing.assert_array_equal(back, obs)
    assert np.issubdtype(np.asarray(back).dtype, np.integer)


def test_the_states_of_a_discrete_space():
    np.testing.assert_array_equal(StateSpace.of(spaces.Discrete(3, start=5)).all_states, [[5.0], [6.0], [7.0]])


def test_minus_zero_is_zero():
    states = StateSpace.of(spaces.Box(-1.0, 1.0, (1,), np.float64))
    unscaled = StateSpace.of(spaces.Box(-np.inf, np.inf, (1,), np.float64))
    assert unscaled.encode(np.array([-0.0])).tobytes() == unscaled.encode(np.array([0.0])).tobytes()
    assert states.encode(np.array([-0.0])).tobytes() == states.encode(np.array([0.0])).tobytes()


@pytest.mark.parametrize(
    "obs",
    [
        np.array([np.nan, 0.0]),
        np.array([np.inf, 0.0]),
        np.array([0.0]),
        np.zeros((1, 2)),
        0.5,
        "left",
        None,
        [[0.0]],
    ],
    ids=str,
)
def test_bad_observations_of_a_box_are_refused(obs):
    with pytest.raises(InputError, match="observation"):
        StateSpace.of(spaces.Box(-1.0, 1.0, (2,), np.float64)).encode(obs)


@pytest.mark.parametrize("obs", [-1, 3, 1.5, np.nan, np.inf, np.array([1]), "one"], ids=str)
def test_bad_observations_of_a_discrete_space_are_refused(obs):
    with pytest.raises(InputError, match="observation"):
        StateSpace.of(spaces.Discrete(3)).encode(obs)


@pytest.mark.parametrize("obs", [2, np.int64(2), np.array(2), 2.0])
def test_a_state_may_be_any_kind_of_integer(obs):
    np.testing.assert_array_equal(StateSpace.of(spaces.Discrete(3)).encode(obs), [[2.0]])


class Odd(spaces.Space):
    """A space that is none of Gymnasium's."""


@pytest.mark.parametrize(
    "space", [Odd(), spaces.Dict({"x": spaces.Discrete(2), "y": Odd()})], ids=["alone", "inside"]
)
def test_other_observation_spaces_are_refused_with_advice(space):
    with pytest.raises(InputError, match="wrapper"):
        StateSpace.of(space)


NESTED = spaces.Dict(
    {
        "arm": spaces.Dict({"angle": spaces.Box(-np.pi, np.pi, (2,)), "load": spaces.Box(0.0, 5.0, ())}),
        "gear": spaces.Discrete(3, start=1),
        "lights": spaces.Tuple((spaces.MultiBinary(2), spaces.MultiDiscrete([[4], [5]]))),
        "mission": spaces.Text(9),
    }
)


@pytest.mark.parametrize("angles", [(), ["arm.angle"], {1: 2 * np.pi}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_nested_observations_become_rows_and_come_back(seed, angles):
    NESTED.seed(seed)
    obs = NESTED.sample()
    states = StateSpace.of(NESTED, angles)
    row = states.encode(obs)
    assert row.shape == (1, states.dims)
    assert states.dims == 2 + 1 + 1 + 2 + 2 + 1 + (2 if angles == ["arm.angle"] else len(angles))
    back = states.decode(row)[0]
    assert sorted(back) == ["arm", "gear", "lights", "mission"]
    assert back["mission"] == obs["mission"]
    np.testing.assert_allclose(back["arm"]["angle"], obs["arm"]["angle"], atol=1e-6)
    assert back["arm"]["load"] == pytest.approx(float(obs["arm"]["load"]))
    assert back["gear"] == obs["gear"]
    assert isinstance(back["lights"], tuple)
    for mine, theirs in zip(back["lights"], obs["lights"], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    again = StateSpace.from_spec(json.loads(json.dumps(states.spec())))
    np.testing.assert_array_equal(again.encode(obs), row)
    assert again.spec() == states.spec()
    assert states.fits(NESTED)
    assert not states.fits(NESTED["arm"])


def test_categories_numbers_and_bounds_are_told_apart():
    states = StateSpace.of(NESTED, ["arm.angle"])
    np.testing.assert_array_equal(states.categories, [False] + [True] * 6 + [False] * 4)
    assert states.combinations == 3 * 2 * 2 * 4 * 5
    assert not states.integer
    assert StateSpace.of(NESTED["lights"]).integer
    assert StateSpace.of(spaces.Box(0, 255, (7, 7, 3), np.uint8)).integer  # codes in a picture
    assert not StateSpace.of(spaces.Box(0, 50, (2,), np.int64)).integer  # counts


@pytest.mark.parametrize(
    ("obs", "complaint"),
    [
        ({"gear": 1}, "missing"),
        ({"x": [np.nan], "gear": 1}, "'x' is NaN"),
        ({"x": [0.0, 0.0], "gear": 1}, "'x' has shape"),
        ({"x": "a", "gear": 1}, "not numeric"),
        (3, "missing"),
    ],
    ids=str,
)
def test_a_bad_part_is_named(obs, complaint):
    space = spaces.Dict({"x": spaces.Box(-1.0, 1.0, (1,)), "gear": spaces.Discrete(2)})
    with pytest.raises(InputError, match=complaint):
        StateSpace.of(space).encode(obs)


def test_leaving_the_declared_bounds_is_said_once_and_no_reason_to_stop(caplog):
    states = StateSpace.of(spaces.Box(np.zeros(2, np.float32), np.array([1.0, 2.0], np.float32)))
    states.encode(np.array([1.0 + 1e-7, 2.0], dtype=np.float32))  # rounding is no reason to speak
    assert not caplog.records
    row = states.encode(np.array([0.5, 3.0]))
    states.encode(np.array([0.5, 4.0]))
    np.testing.assert_allclose(row, [[0.5, 1.5]])
    assert [r.getMessage() for r in caplog.records] == [
        "the observation leaves the bounds that its space declares (column 1: 3 is outside of [0, 2]); used as it is"
    ]


def test_observations_are_copied():
    states, obs = StateSpace.of(spaces.Box(-np.inf, np.inf, (2,), np.float64)), np.zeros(2)
    row = states.encode(obs)
    obs[:] = 7.0
    np.testing.assert_array_equal(row, [[0.0, 0.0]])


def test_float32_and_float64_observations_are_the_same_state():
    states = StateSpace.of(spaces.Box(-2.0, 2.0, (1,), np.float32))
    assert states.encode(np.array([0.5], np.float32)).tobytes() == states.encode(np.array([0.5])).tobytes()


class Mixed(gymnasium.Env):
    """A cart on an unbounded line that two gears push with different strength; pays where x passes 30."""

    observation_space = spaces.Dict({"x": spaces.Box(-np.inf, np.inf, (1,)), "gear": spaces.Discrete(2)})
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.gear = 0.0, 0
        return self._obs(), {}

    def step(self, action):
        self.x += (2.0, 9.0)[self.gear]
        self.gear = int(action)
        return self._obs(), float(self.x > 30), False, False, {}

    def _obs(self):
        return {"x": np.array([self.x], np.float32), "gear": self.gear}


def test_an_agent_learns_from_a_dict_and_a_saved_one_goes_on_bit_for_bit(tmp_path):
    agent = CMERL(Mixed(), horizon=6, seed=1).learn(8)
    # 2 + 4·9 = 38 > 30 at the fifth step, and 47 at the sixth
    assert max(r.ret for r in agent.history) == 2.0
    assert agent.predict({"x": np.zeros(1), "gear": 0}, explore=False) == 1
    half = CMERL(Mixed(), horizon=6, seed=1).learn(3)
    half.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=Mixed()).learn(5)
    assert [r.ret for r in again.history] == [r.ret for r in agent.history]
    obs = {"x": np.array([11.0]), "gear": 1}
    assert again.q_values(obs, 2).tobytes() == agent.q_values(obs, 2).tobytes()
    assert again.kernel == agent.kernel


def test_a_known_reward_sees_the_observation_as_it_was():
    def reward(obs, action):
        assert set(obs) == {"x", "gear"}
        return float(obs["x"][0] > 30)

    assert len(CMERL(Mixed(), horizon=6, reward=reward).learn(2).history) == 2


def test_angles_survive_saving(tmp_path):
    env = gymnasium.make("Acrobot-v1", max_episode_steps=5)
    CMERL(env, angles={0: 2.0}).learn(1).save(tmp_path / "agent")
    assert CMERL.load(tmp_path / "agent", env=env).states.dims == 7
