"""Routing: the shortest route."""

import itertools

import numpy as np
import pytest

from cmerl.envs import Routing


def test_routing_ends_on_the_shortest_route_by_brute_force():
    world = Routing(customers=5, seed=2)
    stops = np.vstack([[[0.5, 0.5]], world.places, [[0.5, 0.5]]])

    def length(route):
        way = stops[[0, *(c + 1 for c in route), 6]]
        return np.linalg.norm(np.diff(way, axis=0), axis=1).sum()

    lengths = {route: length(route) for route in itertools.permutations(range(5))}
    shortest = min(lengths, key=lengths.get)
    stay = world.model.R[world.model.index(np.array(shortest)), -1]
    assert stay == pytest.approx(1.0)
    other = (1, 0, 2, 3, 4)
    low, high = min(lengths.values()), max(lengths.values())
    world.reset(seed=0)
    assert world.step(0)[1] == pytest.approx(1.0 - (lengths[other] - low) / (high - low))
