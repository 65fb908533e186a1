"""Worlds of objects: spaces that hold, and optima that brute force confirms."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import cmerl
from cmerl.envs import Knapsack, Molecule, Routing, StringEdit
from cmerl.errors import InputError
from cmerl.oracles import TableModel, evaluate, solve

WORLDS = [StringEdit, Molecule, Knapsack, Routing]
SMALL = [
    (StringEdit("CAB", "ABC"), 4),
    (Molecule(budget=6), 4),
    (Knapsack(things=5, seed=3), 4),
    (Routing(customers=4, seed=1), 4),
]


@pytest.mark.parametrize(("world", "horizon"), SMALL, ids=lambda x: type(x).__name__)
def test_the_optimum_is_that_of_all_sequences_of_actions(world, horizon):
    best = -np.inf
    for actions in itertools.product(range(world.action_space.n), repeat=horizon):
        world.reset(seed=0)
        best = max(best, sum(world.step(a)[1] for a in actions))
    assert solve(world, horizon).value(0) == pytest.approx(best, abs=1e-12)


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


def test_a_policy_is_evaluated_on_the_table():
    world = Knapsack(things=4, seed=0)
    value = evaluate(world, lambda obs, step: step, 4)
    world.reset(seed=0)
    assert value.value(0) == pytest.approx(sum(world.step(a)[1] for a in range(4)))


def test_bad_tables_and_options_are_refused():
    with pytest.raises(InputError, match="one shape"):
        TableModel(np.zeros((2, 1), int), np.zeros((1, 1)), 0, np.empty(2, dtype=object))
    with pytest.raises(InputError, match="from 0 to 0"):
        TableModel(np.ones((1, 1), int), np.zeros((1, 1)), 0, np.empty(1, dtype=object))
    with pytest.raises(InputError, match="target must be a word"):
        StringEdit("XYZ")
    with pytest.raises(InputError, match="not an observation"):
        StringEdit("AB", "AB").reset(options={"state": "CC"})
