"""Routing: improve the order of visits by swapping neighbours."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from cmerl.envs.object_world import ObjectWorld, enumerate_world
from cmerl.validation.numbers import check_count


class Routing(ObjectWorld):
    """A route from a depot through all customers and back, as an order of the customers.

    Action i swaps the customers at positions i and i + 1; the last action does nothing. The reward of a step is 1 −
    (length − shortest)/(longest − shortest) of the route after it, so the best route pays 1 per step. Customers lie
    in the unit square, the depot in its middle; the first route visits them by number.

    Args:
        customers: Number of customers.
        seed: Seed of their positions.
        horizon: Suggested episode length.

    Attributes:
        places: (customers, 2).
    """

    def __init__(self, customers: int = 7, seed: int = 0, horizon: int = 15) -> None:
        n = check_count("customers", customers, least=2)
        self.places = np.random.default_rng(check_count("seed", seed, least=0)).random((n, 2))
        stops = np.vstack([[[0.5, 0.5]], self.places])
        between = np.linalg.norm(stops[:, None] - stops, axis=2)

        def length(route: tuple[int, ...]) -> float:
            way = [0, *(c + 1 for c in route), 0]
            return float(between[way[:-1], way[1:]].sum())

        def move(route: tuple[int, ...], i: int) -> tuple[tuple[int, ...], float]:
            after = route if i == n - 1 else (*route[:i], route[i + 1], route[i], *route[i + 2 :])
            return after, length(after)

        model = enumerate_world(tuple(range(n)), n, move, lambda route: np.array(route))
        lengths = model.R.copy()
        model.R[...] = 1.0 - (lengths - lengths.min()) / max(lengths.max() - lengths.min(), 1e-12)
        super().__init__(model, spaces.MultiDiscrete(np.full(n, n)), horizon)
