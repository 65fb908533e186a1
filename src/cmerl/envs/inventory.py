"""Inventory: order stock before an uncertain demand is known."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cmerl.envs.finite import FiniteMDP, Floats, cumulative, draw
from cmerl.errors import InputError
from cmerl.validation.numbers import check_count, check_index, check_numbers

RARE = 1e-6  # a Poisson demand is cut where less than this is left, and rescaled


@dataclass(frozen=True)
class Prices:
    """Prices per unit, except ``order``, which is paid once per order.

    Attributes:
        sale: earned for a unit sold, also if it is delivered later.
        unit: paid for a unit ordered.
        order: paid for placing an order at all.
        holding: paid for a unit in stock at the end of a period.
        backlog: paid for a unit owed at the end of a period.
        lost: paid for a unit of demand that could not be served or owed.
    """

    sale: float = 3.0
    unit: float = 1.0
    order: float = 2.0
    holding: float = 0.1
    backlog: float = 0.5
    lost: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not np.isfinite(value):
                raise InputError(f"prices must be finite, but {field.name} is {value!r}.")


class Inventory(FiniteMDP):
    """A shop that orders at the start of each period, is delivered at once, and then meets random demand.

    Action a orders a units, up to the capacity. Demand beyond the stock is backlogged up to ``backlog`` units and
    then lost. State i is the stock ``levels[i]``, negative for a backlog. The reward is the profit of the period;
    ``R`` is its expectation.

    Args:
        capacity: largest stock.
        backlog: largest backlog; 0 loses all unserved demand.
        max_order: largest order.
        demand: mean of a Poisson demand, or the probabilities (n,) of demands 0 … n−1.
        prices: see :class:`Prices`; a mapping will do.
        stock: stock at the start.
        horizon: suggested episode length.
        coordinates: observe the stock scaled to [0, 1] instead of the state's number.

    Attributes:
        levels: stock of each state (S,).
        demand: probabilities of demands 0, 1, … (n,).
    """

    def __init__(
        self,
        capacity: int = 20,
        backlog: int = 0,
        max_order: int = 15,
        demand: float | ArrayLike = 5.0,
        prices: Prices | dict[str, float] | None = None,
        stock: int = 0,
        horizon: int = 20,
        coordinates: bool = False,
    ) -> None:
        capacity, backlog = check_count("capacity", capacity), check_count("backlog", backlog, least=0)
        self.levels = np.arange(-backlog, capacity + 1)
        self.prices = prices if isinstance(prices, Prices) else prices_of(prices or {})
        self.demand = demand_law(demand)
        self._demand_cdf = cumulative(self.demand)
        P, R = self._tables(check_count("max_order", max_order) + 1)
        super().__init__(
            P,
            R,
            start=check_index("stock", stock, capacity + 1) + backlog,
            horizon=horizon,
            coordinates=np.linspace(0, 1, len(self.levels))[:, None] if coordinates else None,
        )

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one period and return its profit; never terminates or truncates."""
        a = check_index("the action", action, self.R.shape[1])
        if self.state < 0:
            raise InputError("call reset() before the first step().")
        demand = draw(self._demand_cdf, self.np_random.random())
        next_level, profit = self.period(int(self.levels[self.state]), a, demand)
        self.state = next_level - int(self.levels[0])
        observation, info = self._observe()
        return observation, profit, False, False, info

    def period(self, level: int, order: int, demand: int) -> tuple[int, float]:
        """Stock after one period, and its profit."""
        lowest, highest = int(self.levels[0]), int(self.levels[-1])
        order = min(order, highest - level)
        after = max(level + order - demand, lowest)
        sold = level + order - after
        p = self.prices
        profit = p.sale * sold - p.unit * order - p.order * (order > 0) - p.lost * (demand - sold)
        profit -= p.holding * after if after > 0 else -p.backlog * after
        return after, profit

    def _tables(self, actions: int) -> tuple[Floats, Floats]:
        """P (S, A, S) and expected profits R (S, A), summed over demands."""
        states = len(self.levels)
        P, R = np.zeros((states, actions, states)), np.zeros((states, actions))
        for s, level in enumerate(self.levels):
            for a in range(actions):
                for demand, probability in enumerate(self.demand):
                    after, profit = self.period(int(level), a, demand)
                    P[s, a, after - self.levels[0]] += probability
                    R[s, a] += probability * profit
        return P, R


def prices_of(given: dict[str, float]) -> Prices:
    """Prices from a mapping, whose names are checked."""
    known = [field.name for field in fields(Prices)]
    if unknown := set(given) - set(known):
        raise InputError(f"prices know {', '.join(known)}, but were given {', '.join(sorted(unknown))}.")
    return Prices(**given)


def demand_law(demand: float | ArrayLike) -> Floats:
    """Probabilities (n,) of demands 0 … n−1."""
    law = check_numbers("demand", demand)
    if law.ndim == 0:
        if not 0 < law < np.inf:
            raise InputError(f"demand must have a positive finite mean, but has {demand!r}.")
        most = int(stats.poisson.isf(RARE, law))
        law = np.asarray(stats.poisson.pmf(np.arange(most + 1), law))
        return np.asarray(law / law.sum())
    if law.ndim != 1 or len(law) == 0 or not (law >= 0).all() or abs(law.sum() - 1) > 1e-8:
        raise InputError("demand must be a mean, or probabilities (n,) that are non-negative and sum to 1.")
    return law
