"""Knapsack: the best set that fits."""

import itertools

import pytest

from cmerl.envs import Knapsack
from cmerl.oracles import solve


def test_knapsack_with_time_enough_is_the_best_set_that_fits():
    world = Knapsack(things=8, seed=5)

    def worth(things):
        partners = sum(1 for i in things if i % 2 == 0 and i + 1 in things)
        return world.values[list(things)].sum() + 0.5 * partners

    subsets = [c for r in range(9) for c in itertools.combinations(range(8), r)]
    fitting = [c for c in subsets if world.weights[list(c)].sum() <= world.capacity]
    assert solve(world, 8).value(0) == pytest.approx(max(worth(c) for c in fitting))
    assert {tuple(o) for o in world.model.observations} == set(fitting)
