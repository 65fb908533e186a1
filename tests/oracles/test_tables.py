"""Deterministic tables: the best of all sequences of actions, and the value of a policy."""

import itertools

import numpy as np
import pytest

from cmerl.envs import Knapsack, Molecule, Routing, StringEdit
from cmerl.oracles import evaluate, solve

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


def test_a_policy_is_evaluated_on_the_table():
    world = Knapsack(things=4, seed=0)
    value = evaluate(world, lambda obs, step: step, 4)
    world.reset(seed=0)
    assert value.value(0) == pytest.approx(sum(world.step(a)[1] for a in range(4)))
