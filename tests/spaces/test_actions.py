"""Actions: finite sets, continuous boxes and their candidates, and what the kernel sees of them."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.errors import InputError
from cmerl.kernels import Delta
from cmerl.spaces.actions import ActionSet


def test_finite_action_spaces_are_enumerated():
    assert ActionSet.of(spaces.Discrete(3, start=-1)).values == (-1, 0, 1)
    pairs = ActionSet.of(spaces.MultiDiscrete([2, 3]))
    assert len(pairs) == 6
    np.testing.assert_array_equal(pairs.rows, [[i, j] for i in range(2) for j in range(3)])
    assert len(ActionSet.of(spaces.MultiBinary(3))) == 8
    shifted = spaces.MultiDiscrete([2, 2], start=[5, -1])
    assert all(shifted.contains(a) for a in ActionSet.of(shifted).values)


def test_given_candidates_are_checked():
    box = spaces.Box(-1.0, 1.0, (1,), np.float32)
    chosen = ActionSet.of(box, [[-1.0], [0.5]])
    assert all(box.contains(a) for a in chosen.values)
    np.testing.assert_allclose(chosen.rows, [[-1.0], [0.5]])
    with pytest.raises(InputError, match="not in the action space"):
        ActionSet.of(box, [[2.0]])
    with pytest.raises(InputError, match="at least one"):
        ActionSet.of(box, [])


@pytest.mark.parametrize(
    "space",
    [spaces.Box(-np.inf, np.inf, (1,)), spaces.MultiDiscrete([100, 100]), spaces.Discrete(10**6)],
    ids=str,
)
def test_a_space_without_bounds_or_with_too_many_actions_asks_for_candidates(space):
    with pytest.raises(InputError, match="actions="):
        ActionSet.of(space)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 6, 12])
def test_continuous_actions_get_candidates_inside_their_box(d, dtype):
    low, high = np.linspace(-3.0, -0.1, d, dtype=dtype), np.linspace(0.3, 7.7, d, dtype=dtype)
    box = spaces.Box(low, high, dtype=dtype)
    actions = ActionSet.of(box, rng=np.random.default_rng(0))
    assert 9 <= len(actions) <= 65
    assert all(box.contains(a) for a in actions.values)
    assert np.abs(actions.rows).max() == pytest.approx(1.0)
    np.testing.assert_allclose(actions.values[0], 0.0, atol=1e-6)  # doing nothing
    corners = np.all(np.isclose(np.abs(actions.rows), 1.0, atol=1e-6), axis=1)
    assert corners.sum() == (2**d if d < 4 else (len(actions) - 1) // 2)
    assert all(np.isclose(actions.rows, end, atol=1e-6).any(axis=0).all() for end in (-1.0, 1.0))


def test_candidates_are_a_function_of_the_seed():
    box = spaces.Box(-1.0, 1.0, (3,))
    a, b, c = (ActionSet.of(box, rng=np.random.default_rng(seed)).rows for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_doing_nothing_is_the_nearest_action_to_zero():
    actions = ActionSet.of(spaces.Box(np.array([0.5]), np.array([2.0]), dtype=np.float64))
    np.testing.assert_array_equal(actions.values[0], [0.5])


def test_a_dimension_without_width_is_a_constant():
    box = spaces.Box(np.array([-1.0, 2.0]), np.array([1.0, 2.0]), dtype=np.float64)
    actions = ActionSet.of(box)
    assert all(box.contains(a) for a in actions.values)
    assert set(actions.rows[:, 1]) == {0.0}


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(3, start=4),
        spaces.MultiDiscrete([2, 3]),
        spaces.Box(-2.0, 5.0, (2,), np.float32),
        spaces.Box(0.1, 0.7, (2, 2), np.float64),
        spaces.Box(0, 255, (2,), np.uint8),
    ],
    ids=str,
)
def test_rows_and_actions_are_inverse_and_survive_a_save(space):
    actions = ActionSet.of(space)
    again = ActionSet.from_spec(actions.spec(), actions.table)
    np.testing.assert_array_equal(again.rows, actions.rows)
    for value, row, other in zip(actions.values, actions.rows, again.values, strict=True):
        np.testing.assert_array_equal(actions.encode(value)[0], row)
        np.testing.assert_allclose(actions.decode(row), value, rtol=1e-14)
        np.testing.assert_array_equal(other, value)
        assert space.contains(actions.decode(row))
    assert again.spec() == actions.spec()


def test_given_candidates_are_a_finite_set_seen_as_it_is():
    actions = ActionSet.of(spaces.Box(-np.inf, np.inf, (1,)), [[-30.0], [0.0], [30.0]])
    np.testing.assert_array_equal(actions.rows, [[-30.0], [0.0], [30.0]])
    assert not actions.continuous


def test_continuous_actions_share_what_is_learned_and_discrete_ones_do_not():
    smooth = ActionSet.of(spaces.Box(-2.0, 2.0, (1,))).kernel
    assert smooth(np.array([[0.0]]), np.array([[0.25]]))[0, 0] > 0.5
    assert isinstance(ActionSet.of(spaces.Discrete(2)).kernel, Delta)


def test_an_agent_with_continuous_actions_learns_saves_and_goes_on(tmp_path):
    def env():
        return gymnasium.make("Pendulum-v1", max_episode_steps=15)

    agent = CMERL(env(), seed=0).learn(4)
    assert agent.env.action_space.contains(agent.predict(agent.env.reset(seed=0)[0]))
    half = CMERL(env(), seed=0).learn(2)
    half.save(tmp_path / "agent.safetensors")
    again = CMERL.load(tmp_path / "agent.safetensors", env=env()).learn(2)
    assert [r.ret for r in again.history] == [r.ret for r in agent.history]


def test_candidates_stay_where_they_are_whatever_is_played():
    agent = CMERL(gymnasium.make("Pendulum-v1", max_episode_steps=15), seed=0, model="displacement")
    first = agent.actions.rows.copy()
    np.testing.assert_array_equal(agent.learn(3).actions.rows, first)
