"""Spaces: what kernels see of observations and actions, and what is refused at the door."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.agents.spaces import StateSpace
from cmerl.errors import InputError


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


def test_bounded_boxes_are_scaled_to_the_unit_cube():
    box = spaces.Box(np.array([-2.0, 0.0]), np.array([2.0, 10.0]), dtype=np.float64)
    states = StateSpace.of(box)
    np.testing.assert_allclose(states.encode(np.array([-2.0, 10.0])), [[0.0, 1.0]])
    np.testing.assert_allclose(states.encode(np.array([1.0, 5.0])), [[0.75, 0.5]])
    assert states.all_states is None


def test_unbounded_columns_stay_as_they_are():
    box = spaces.Box(np.array([-np.inf, -1.0]), np.array([np.inf, 1.0]), dtype=np.float64)
    np.testing.assert_allclose(StateSpace.of(box).encode(np.array([37.5, 0.0])), [[37.5, 0.5]])


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


@pytest.mark.parametrize("space", [spaces.Dict({"x": spaces.Discrete(2)}), spaces.Text(3)])
def test_other_observation_spaces_are_refused_with_advice(space):
    with pytest.raises(InputError, match="wrapper"):
        StateSpace.of(space)
