"""How the parts of an agent are put together."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents.cme_rl.builder import encode_all
from cmerl.errors import InputError
from cmerl.spaces import StateSpace


def river(**options) -> CMERL:
    return CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=3, **options)


def test_the_parts_of_an_agent_are_those_of_its_planner() -> None:
    agent = river()
    for name in ("model", "options", "rewards", "states", "actions"):
        assert getattr(agent, name) is getattr(agent.planner, name)
    assert agent.planner.balancing is None
    assert agent.planner.counting is None
    assert river(bonus="auto").planner.balancing is not None
    assert river(bonus="kl").planner.counting is not None


def test_only_proofs_allow_for_early_ends_before_one_was_seen() -> None:
    lake = gymnasium.make("FrozenLake-v1", max_episode_steps=20)
    assert not CMERL(lake).rewards.may_end
    assert CMERL(lake, bonus="tight").rewards.may_end
    assert not river(bonus="tight").rewards.may_end  # a world that is known to go on


def test_a_reward_function_that_can_be_asked_everywhere_tells_the_range() -> None:
    agent = river(reward=lambda obs, action: 3.0 * obs - action)
    assert agent.reward_range == (-1.0, 15.0)
    assert agent.rewards.known


def test_modes_that_count_take_the_range_that_the_world_declares() -> None:
    assert not river().rewards.declared
    assert river(bonus="kl").rewards.declared


def test_states_that_are_listed_have_the_shape_of_an_observation() -> None:
    space = StateSpace.of(gymnasium.spaces.Box(0.0, 1.0, (2,)), ())
    assert encode_all(space, np.zeros((5, 2))).shape == (5, 2)
    for states in (np.zeros((5, 3)), 0.5):
        with pytest.raises(InputError, match="states must have shape"):
            encode_all(space, states)
