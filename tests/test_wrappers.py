"""Wrappers: what each changes, and that it changes nothing else."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from cmerl import CMERL
from cmerl.agents.base import find_horizon
from cmerl.errors import InputError
from cmerl.wrappers import (
    REGISTRY,
    ActionNoise,
    ActionRepeat,
    DiscreteActions,
    GoalReward,
    Horizon,
    SelectObservation,
)


def roll(env, actions, seed=0):
    """Rewards and flags of a fixed sequence of actions."""
    env.reset(seed=seed)
    seen = []
    for action in actions:
        seen.append(env.step(action)[1:4])
        if seen[-1][1] or seen[-1][2]:
            break
    return seen


def test_a_horizon_replaces_a_shorter_or_longer_time_limit():
    for steps in (7, 900):
        env = Horizon(gymnasium.make("MountainCar-v0"), steps)
        assert find_horizon(env, None) == steps
        assert len(roll(env, [1] * 1000)) == steps


def test_goal_reward_pays_at_the_end_only():
    env = GoalReward(gymnasium.make("MountainCar-v0", max_episode_steps=300))
    obs, _ = env.reset(seed=0)
    rewards, terminated = [], False
    while not terminated:
        obs, reward, terminated, _, _ = env.step(2 if obs[1] >= 0 else 0)  # swing up
        rewards.append(reward)
    assert rewards[-1] == 1.0
    assert set(rewards[:-1]) == {0.0}


def test_an_end_that_was_not_rewarded_is_no_goal():
    holes = GoalReward(gymnasium.make("FrozenLake-v1", is_slippery=False), above=0.0, reward=5.0)
    assert roll(holes, [2, 1, 1])[-1] == (0.0, True, False)  # right, down: a hole
    assert roll(holes, [1, 1, 2, 2, 1, 2])[-1] == (5.0, True, False)


def test_a_predicate_is_a_goal_and_ends_the_episode():
    env = GoalReward(gymnasium.make("CartPole-v1"), goal=lambda obs: abs(obs[2]) > 0.05)
    seen = roll(env, [1] * 50)
    assert seen[-1] == (1.0, True, False)
    assert len(seen) < len(roll(gymnasium.make("CartPole-v1"), [1] * 50))
    with pytest.raises(InputError, match="goal or above, not both"):
        GoalReward(gymnasium.make("CartPole-v1"), goal=lambda obs: True, above=0.0)


def test_discrete_actions_are_a_grid_with_its_ends():
    env = DiscreteActions(gymnasium.make("Pendulum-v1"), levels=3)
    assert env.action_space == spaces.Discrete(3)
    np.testing.assert_allclose([env.action(i) for i in range(3)], [[-2.0], [0.0], [2.0]])
    assert all(env.env.action_space.contains(env.action(i)) for i in range(3))
    assert roll(env, [2, 2]) == roll(gymnasium.make("Pendulum-v1"), [np.array([2.0], np.float32)] * 2)


@pytest.mark.parametrize("levels", [1, [3, 3], 0, 2000])
def test_levels_that_make_no_grid_are_refused(levels):
    with pytest.raises(InputError, match="level"):
        DiscreteActions(gymnasium.make("Pendulum-v1"), levels=levels)


def test_discrete_actions_of_discrete_actions_are_refused():
    with pytest.raises(InputError, match="bounded Box"):
        DiscreteActions(gymnasium.make("CartPole-v1"))


def test_columns_of_a_box_are_selected():
    env = SelectObservation(gymnasium.make("CartPole-v1"), [2, 0])
    full, _ = gymnasium.make("CartPole-v1").reset(seed=3)
    some, _ = env.reset(seed=3)
    np.testing.assert_array_equal(some, full[[2, 0]])
    assert env.observation_space.contains(some)


class Parts(gymnasium.Env):
    """A Dict and a Tuple in one."""

    action_space = spaces.Discrete(2)

    def __init__(self, space):
        self.observation_space = space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


DICT = spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0.0, 1.0, (2,)), "c": spaces.Text(4)})
TUPLE = spaces.Tuple((spaces.Discrete(3), spaces.Box(0.0, 1.0, (2,))))


@pytest.mark.parametrize(
    ("space", "keep", "expected"),
    [
        (DICT, ["a", "b"], spaces.Dict({"a": DICT["a"], "b": DICT["b"]})),
        (DICT, "b", DICT["b"]),
        (TUPLE, 1, TUPLE[1]),
        (TUPLE, [1], spaces.Tuple([TUPLE[1]])),
    ],
    ids=str,
)
def test_parts_of_dicts_and_tuples_are_selected(space, keep, expected):
    env = SelectObservation(Parts(space), keep)
    assert env.observation_space == expected
    assert expected.contains(env.reset(seed=0)[0])
    assert expected.contains(env.step(0)[0])


@pytest.mark.parametrize(("space", "keep"), [(DICT, ["d"]), (DICT, []), (TUPLE, 2), (spaces.Discrete(2), 0)], ids=str)
def test_parts_that_are_not_there_are_refused(space, keep):
    with pytest.raises(InputError, match=r"part|needs"):
        SelectObservation(Parts(space), keep)


def test_a_repeated_action_sums_its_rewards_and_divides_the_horizon():
    env = ActionRepeat(gymnasium.make("MountainCar-v0"), 8)
    assert find_horizon(env, None) == 25
    seen = roll(env, [0] * 100)
    assert len(seen) == 25
    assert seen[0] == (-8.0, False, False)
    assert seen[-1][2]
    odd = ActionRepeat(gymnasium.make("MountainCar-v0", max_episode_steps=10), 4)
    assert [reward for reward, _, _ in roll(odd, [0] * 100)] == [-4.0, -4.0, -2.0]
    assert find_horizon(odd, None) == 3
    assert find_horizon(ActionRepeat(gymnasium.make("cmerl/RiverSwim-v0"), 4), None) == 5
    assert find_horizon(ActionRepeat(Horizon(Parts(TUPLE), 10), 4), None) == 3  # not registered, so without a spec


@pytest.mark.parametrize("wrapper", [Horizon, ActionRepeat])
@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_counts_are_whole_numbers(wrapper, count):
    with pytest.raises(InputError, match="whole number"):
        wrapper(gymnasium.make("CartPole-v1"), count)


def test_all_are_registered_by_name_and_an_agent_learns_inside_them():
    others = ["ActionNoise", "ActionRepeat", "DiscreteActions"]
    assert sorted(REGISTRY) == [*others, "GoalReward", "Horizon", "SelectObservation"]
    env = gymnasium.make("Pendulum-v1")
    for name, options in (("Horizon", {"steps": 12}), ("DiscreteActions", {}), ("ActionRepeat", {"times": 3})):
        env = REGISTRY[name](env, **options)
    agent = CMERL(SelectObservation(env, [0, 1]), seed=0).learn(2)
    assert [r.length for r in agent.history] == [4, 4]


def test_noise_moves_actions_within_their_bounds_and_repeats_by_seed():
    class Recorder(gymnasium.Wrapper):
        def step(self, action):
            seen.append(action)
            return super().step(action)

    def play(seed, deviation):
        seen.clear()
        env = ActionNoise(Recorder(gymnasium.make("Pendulum-v1")), deviation)
        env.reset(seed=seed)
        for _ in range(150):
            env.step(np.array([0.5], np.float32))
        return np.array(seen)

    seen: list = []
    noisy = play(3, 0.2)
    assert noisy.dtype == np.float32
    assert noisy.mean() == pytest.approx(0.5, abs=0.06)
    assert noisy.std() == pytest.approx(0.2, rel=0.2)
    np.testing.assert_array_equal(noisy, play(3, 0.2))
    assert not np.array_equal(noisy, play(4, 0.2))
    assert (play(3, 0.0) == 0.5).all()
    assert abs(play(3, 50.0)).max() == 2.0
    with pytest.raises(InputError, match="needs a Box of actions"):
        ActionNoise(gymnasium.make("CartPole-v1"), 0.1)
    for deviation in (-1, float("inf"), float("nan"), "much"):
        with pytest.raises(InputError, match="deviation must be"):
            ActionNoise(gymnasium.make("Pendulum-v1"), deviation)
