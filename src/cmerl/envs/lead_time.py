"""Inventory with a lead time: orders arrive some periods later."""

from __future__ import annotations

from itertools import product
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.finite import FiniteMDP, Floats, cumulative, draw
from cmerl.envs.inventory import Prices, demand_law, prices_of
from cmerl.errors import InputError
from cmerl.kernels import RBF, Columns, Constant, Kernel, StateAction
from cmerl.validation.numbers import check_count, check_index

COSTS = {"sale": 0.0, "unit": 0.0, "order": 0.0, "holding": 1.0, "backlog": 4.0, "lost": 4.0}


class LeadTimeInventory(FiniteMDP):
    """A warehouse with a lead time.

    In each period a units are ordered; they arrive ``lead_time`` periods later, before that period's demand. Demand
    beyond the stock is backlogged up to ``backlog`` units and then lost; units beyond the capacity are returned. The
    reward is minus the cost of the period; ``R`` is its expectation. The observation is the stock (negative for a
    backlog), then the stock plus the next arrival, plus the next two, and so on; the last is the inventory position.

    Args:
        lead_time: periods from an order to its arrival, at least 1.
        capacity: largest stock.
        backlog: largest backlog.
        max_order: largest order.
        demand: mean of a Poisson demand, or the probabilities (n,) of demands 0 … n−1.
        prices: see :class:`Prices`; by default 1 for a unit in store and 4 for a unit owed, a period.
        stock: units in store at the start, with nothing under way.
        horizon: suggested episode length.

    Attributes:
        levels: stock (S,) of each state.
        pipelines: orders under way (S, lead_time − 1) of each state.
        demand: probabilities of demands 0, 1, … (n,).
    """

    def __init__(
        self,
        lead_time: int = 2,
        capacity: int = 10,
        backlog: int = 6,
        max_order: int = 4,
        demand: float | ArrayLike = (0.1, 0.2, 0.4, 0.2, 0.1),
        prices: Prices | dict[str, float] | None = None,
        stock: int = 4,
        horizon: int = 20,
    ) -> None:
        self.lead_time = check_count("lead_time", lead_time)
        capacity, backlog = check_count("capacity", capacity), check_count("backlog", backlog, least=0)
        self.max_order = check_count("max_order", max_order)
        self.lowest, self.highest = -backlog, capacity
        self.prices = prices if isinstance(prices, Prices) else prices_of({**COSTS, **(prices or {})})
        self.demand = demand_law(demand)
        self._demand_cdf = cumulative(self.demand)
        orders = [range(self.max_order + 1)] * (self.lead_time - 1)
        states = list(product(range(-backlog, capacity + 1), *orders))
        if len(states) * (self.max_order + 1) > 10**5:
            raise InputError(
                f"{len(states)} states are too many for tables: choose a shorter lead_time or smaller orders"
            )
        self._index = {state: s for s, state in enumerate(states)}
        table = np.array(states)
        self.levels, self.pipelines = table[:, 0], table[:, 1:]
        P, R = self._tables(states)
        start = self._index[(check_index("stock", stock, capacity + 1), *(0,) * (self.lead_time - 1))]
        least = min(self.period(state, a, len(self.demand) - 1)[1] for state in states for a in (0, self.max_order))
        self.reward_range = (min(least, float(R.min())), max(0.0, float(R.max())))
        super().__init__(P, R, start=start, horizon=horizon, coordinates=np.cumsum(table, axis=1, dtype=np.float64))

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one period and pay its cost; never terminates or truncates."""
        a = check_index("the action", action, self.R.shape[1])
        if self.state < 0:
            raise InputError("call reset() before the first step().")
        demand = draw(self._demand_cdf, self.np_random.random())
        state = (int(self.levels[self.state]), *map(int, self.pipelines[self.state]))
        after, reward = self.period(state, a, demand)
        self.state = self._index[after]
        observation, info = self._observe()
        return observation, reward, False, False, {**info, "demand": demand}

    @staticmethod
    def kernel(stock: float = 0.1, position: float = 0.06, order: float = 0.8) -> Kernel:
        """A kernel that knows what depends on what, for ``CMERL(kernel=…)``, where the lead time is 2.

        The cost of a period depends on the stock alone, the period after next on the inventory position and the
        order.

        Args:
            stock: lengthscale of the first, as a share of its range.
            position: likewise of the second.
            order: in units.
        """
        now = StateAction(Columns(RBF(stock), (0,)), Constant(1.0))
        return now + StateAction(Columns(RBF(position), (1,)), RBF(order))

    def period(self, state: tuple[int, ...], order: int, demand: int) -> tuple[tuple[int, ...], float]:
        """What a period makes of the stock and the orders under way, (level, q₁, …), and its reward."""
        level, *travelling = (*state, order)
        left = max(level - demand, self.lowest)
        sold, p = level - left, self.prices
        cost = p.unit * order + p.order * (order > 0) + p.lost * (demand - sold) - p.sale * sold
        cost += p.holding * left if left > 0 else -p.backlog * left
        return (min(left + travelling[0], self.highest), *travelling[1:]), -cost

    def _tables(self, states: list[tuple[int, ...]]) -> tuple[Floats, Floats]:
        """P (S, A, S) and expected rewards R (S, A), summed over demands."""
        actions = self.max_order + 1
        P, R = np.zeros((len(states), actions, len(states))), np.zeros((len(states), actions))
        for s, state in enumerate(states):
            for a in range(actions):
                for demand, probability in enumerate(self.demand):
                    after, reward = self.period(state, a, demand)
                    P[s, a, self._index[after]] += probability
                    R[s, a] += probability * reward
        return P, R
