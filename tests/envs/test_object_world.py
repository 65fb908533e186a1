"""Worlds of objects: spaces that hold, and exact regret."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import cmerl
from cmerl.envs import Knapsack, Molecule, Routing, StringEdit
from cmerl.errors import InputError
from cmerl.oracles import TableModel, solve

WORLDS = [StringEdit, Molecule, Knapsack, Routing]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_own_checker_is_content(world):
    env = world()
    gymnasium_check(env, skip_render_check=True)
    assert len(env.model.R) >= 1000  # a table would be hopeless
    again, _ = env.reset(seed=1)
    assert env.model.index(again) == 0


@pytest.mark.parametrize("name", ["StringEdit", "Molecule", "Knapsack", "Routing"])
def test_an_agent_learns_with_no_kernel_named_and_regret_is_exact(name):
    env = gymnasium.make(f"cmerl/{name}-v0")
    agent = cmerl.CMERL(env, seed=0).learn(3)
    optimum = solve(env, env.unwrapped.horizon).value(0)
    for record in agent.history:
        assert record.regret == pytest.approx(optimum - record.ret, abs=1e-9)  # deterministic: gaps add up to it
        assert record.metrics["optimum"] == pytest.approx(optimum)


def test_bad_tables_and_options_are_refused():
    with pytest.raises(InputError, match="one shape"):
        TableModel(np.zeros((2, 1), int), np.zeros((1, 1)), 0, np.empty(2, dtype=object))
    with pytest.raises(InputError, match="from 0 to 0"):
        TableModel(np.ones((1, 1), int), np.zeros((1, 1)), 0, np.empty(1, dtype=object))
    with pytest.raises(InputError, match="target must be a word"):
        StringEdit("XYZ")
    with pytest.raises(InputError, match="not an observation"):
        StringEdit("AB", "AB").reset(options={"state": "CC"})
