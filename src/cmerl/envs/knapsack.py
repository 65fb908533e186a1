"""Knapsack: select items that fit; some are worth more together."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from cmerl.envs.object_world import ObjectWorld, enumerate_world
from cmerl.validation.numbers import check_count


class Knapsack(ObjectWorld):
    """Fill a knapsack of limited capacity.

    Action i puts thing i into the sack, if it is not there and fits; otherwise nothing happens. The reward is what
    the thing is worth, and more if its partner (0 and 1, 2 and 3, …) is there already. The observation is the set of
    things in the sack, as a sorted tuple.

    Args:
        things: How many there are.
        capacity: What the sack can carry, as a share of the weight of all things.
        together: What two partners are worth on top.
        seed: Of weights and values.
        horizon: Suggested episode length.

    Attributes:
        weights: (things,) whole numbers from 1 to 9.
        values: (things,) in [0, 1].
    """

    def __init__(
        self, things: int = 12, capacity: float = 0.4, together: float = 0.5, seed: int = 0, horizon: int = 6
    ) -> None:
        rng = np.random.default_rng(check_count("seed", seed, least=0))
        self.weights = rng.integers(1, 10, check_count("things", things, least=2))
        self.values = rng.random(things)
        self.capacity = capacity * float(self.weights.sum())

        def move(sack: tuple[int, ...], thing: int) -> tuple[tuple[int, ...], float]:
            if thing in sack or self.weights[[*sack, thing]].sum() > self.capacity:
                return sack, 0.0
            partner = together if (thing ^ 1) in sack else 0.0
            return tuple(sorted((*sack, thing))), float(self.values[thing]) + partner

        model = enumerate_world((), things, move, lambda sack: sack)
        super().__init__(model, spaces.Sequence(spaces.Discrete(things)), horizon)
