"""Environments of other people, as they are: an agent plays them without a word of complaint from us."""

from __future__ import annotations

import importlib
import logging
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.checking import check_env

HOME = str(Path(cmerl.__file__).parent)

# id, module that registers it, horizon, what becomes of its observations and of its actions
WORLDS = [
    (
        "CartPole-v1",
        "gymnasium",
        20,
        "2 numbers scaled by their bounds, 2 numbers scaled by what is seen",
        "2 actions",
    ),
    ("MountainCar-v0", "gymnasium", 15, "2 numbers scaled by their bounds", "3 actions"),
    ("MountainCarContinuous-v0", "gymnasium", 15, "2 numbers scaled by their bounds", "9 candidates"),
    ("Pendulum-v1", "gymnasium", 15, "3 numbers scaled by their bounds", "9 candidates"),
    ("Acrobot-v1", "gymnasium", 15, "6 numbers scaled by their bounds", "3 actions"),
    ("Blackjack-v1", "gymnasium", 10, "3 categories", "2 actions"),
    ("FrozenLake-v1", "gymnasium", 20, "16 states", "4 actions"),
    ("FrozenLake8x8-v1", "gymnasium", 20, "64 states", "4 actions"),
    ("CliffWalking-v1", "gymnasium", 20, "48 states", "4 actions"),
    ("CliffWalkingSlippery-v1", "gymnasium", 20, "48 states", "4 actions"),
    ("Taxi-v4", "gymnasium", 20, "500 states", "6 actions"),
    ("MiniGrid-Empty-5x5-v0", "minigrid", 15, "148 categories", "7 actions"),
    ("MiniGrid-DoorKey-5x5-v0", "minigrid", 15, "148 categories", "7 actions"),
    ("MiniGrid-FourRooms-v0", "minigrid", 15, "148 categories", "7 actions"),
    ("highway-fast-v0", "highway_env", 3, "25 numbers scaled by what is seen", "5 actions"),
    ("parking-v0", "highway_env", 3, "18 numbers scaled by what is seen", "17 candidates"),
    ("water-reservoir-v0", "mo_gymnasium", 10, "1 number", "9 candidates"),
    ("Cont-CC-SeriesDc-v0", "gym_electric_motor", 15, "6 numbers scaled by their bounds", "9 candidates"),
    ("Cont-SC-SeriesDc-v0", "gym_electric_motor", 15, "6 numbers scaled by their bounds", "9 candidates"),
]


def make(id: str, module: str) -> gymnasium.Env:
    """The environment; several rewards are summed with equal weights."""
    registers = importlib.import_module(module)
    if module != "mo_gymnasium":
        return gymnasium.make(id)
    env = registers.make(id, normalized_action=True)  # its other actions have no upper bound
    weights = np.full(env.unwrapped.reward_dim, 1.0 / env.unwrapped.reward_dim)
    return registers.wrappers.LinearReward(env, weight=weights)


@pytest.mark.parametrize(("id", "module", "horizon", "observations", "actions"), WORLDS, ids=[w[0] for w in WORLDS])
def test_an_environment_runs_unmodified(id, module, horizon, observations, actions, caplog):
    caplog.set_level(logging.WARNING, logger="cmerl")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = make(id, module)
        agent = cmerl.CMERL(env, horizon=horizon, seed=0).learn(3)
        env.close()
    print(f"{id}: {agent.states.describe()}; {agent.actions.describe()}; {agent.kernel!r}")
    assert len(agent.history) == 3
    assert all(np.isfinite(r.ret) and 1 <= r.length <= horizon for r in agent.history)
    assert observations in agent.states.describe()
    assert actions in agent.actions.describe()
    assert env.action_space.contains(agent.predict(env.reset(seed=0)[0], explore=False))
    ours = [str(w.message) for w in caught if w.filename.startswith(HOME)]
    to_be_said = ("reward_range", "is an image of shape")
    said = [text for r in caplog.records if not any(part in (text := r.getMessage()) for part in to_be_said)]
    assert ours + said == []
    assert ("image" in caplog.text) == id.startswith("MiniGrid")


@pytest.mark.parametrize(
    ("id", "module", "horizon"),
    [("MiniGrid-Empty-5x5-v0", "minigrid", None), ("Cont-CC-SeriesDc-v0", "gym_electric_motor", 40)],
)
def test_others_environments_pass_the_check(id, module, horizon):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = check_env(make(id, module), horizon=horizon)
    assert report.ok, str(report)


def test_an_environment_that_leaves_its_space_is_found_out():
    report = check_env(make("Finite-CC-SeriesDc-v0", "gym_electric_motor"), horizon=40)
    assert report.names == ["outside the space"]


def test_several_rewards_are_found_by_the_check():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = importlib.import_module("mo_gymnasium").make("water-reservoir-v0")
    assert "reward type" in check_env(env, horizon=10).names
