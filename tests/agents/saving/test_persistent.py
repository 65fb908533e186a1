"""Agents go on where they were saved or pickled; what cannot be saved says so."""

import copy
import pickle

import gymnasium
import pytest
from agent_runs import assert_same, every_agent
from small_worlds import Plane, river

from cmerl.agents import make
from cmerl.errors import KernelError
from cmerl.kernels import RBF, CallableKernel


@pytest.mark.parametrize("name", ["cme-rl", "psrl", "ucbvi", "random", "greedy", "balanced"])
def test_agents_can_be_pickled_and_go_on_the_same(name: str) -> None:
    agent = make(name, gymnasium.make("cmerl/RiverSwim-v0"), seed=3).learn(3)
    other = pickle.loads(pickle.dumps(agent))
    third = copy.deepcopy(agent)
    for each in (agent, other, third):
        each.learn(2)
    assert [r.ret for r in agent.history] == [r.ret for r in other.history] == [r.ret for r in third.history]


def test_an_agent_that_cannot_be_saved_is_not_pickled_and_says_why() -> None:
    agent = make("cme-rl", Plane(), horizon=3, kernel=CallableKernel(lambda X, Y: RBF(1.0)(X, Y)))
    with pytest.raises(KernelError, match="cannot be saved: write it as a Kernel dataclass"):
        pickle.dumps(agent)


@every_agent
def test_a_saved_agent_goes_on_where_it_stopped(make, tmp_path):
    agent = make(river()).learn(4)
    agent.save(tmp_path / "agent")
    loaded = type(agent).load(tmp_path / "agent", env=river())
    assert loaded.history == agent.history
    assert_same(loaded, agent)
    assert_same(loaded.learn(3), make(river()).learn(7))
