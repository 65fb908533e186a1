"""A battery that buys and sells energy against a series of prices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.finite import FiniteMDP, Floats
from cmerl.errors import InputError
from cmerl.kernels import RBF, Columns, Constant, Kernel, StateAction
from cmerl.validation.numbers import check_count, check_index, check_numbers

# A day of hourly prices, in cents a kWh: cheap at night and at noon, dear in the morning and in the evening.
DAY = (18, 16, 15, 15, 16, 20, 28, 36, 38, 32, 25, 20, 17, 16, 18, 22, 30, 40, 45, 43, 36, 29, 24, 20)


class Battery(FiniteMDP):
    """A battery that trades at prices from a series times a random factor.

    Each hour the battery charges, waits or discharges by up to ``power`` units, within its capacity. Charging and
    discharging lose energy. The price of the hour is that of the series times a factor, which stays or moves to a
    neighbour. The hour counts to the end of the series; after it nothing happens. The reward is the money earned, in
    units of the prices. The observation is charge, price and hour.

    Args:
        prices: of each hour (T,).
        capacity: units that fit.
        power: most units an hour.
        efficiency: the share that is left of a unit both ways, in (0, 1].
        factors: of prices; a single one makes them certain.
        stay: probability that the factor stays.
        charge: units at the start.

    Attributes:
        states: (hour, charge, number of the factor) of each state.
    """

    def __init__(
        self,
        prices: ArrayLike = DAY,
        capacity: int = 4,
        power: int = 1,
        efficiency: float = 0.85,
        factors: Sequence[float] = (0.8, 1.0, 1.2),
        stay: float = 0.7,
        charge: int = 0,
    ) -> None:
        self.prices, self.factors = check_numbers("prices", prices), check_numbers("factors", factors)
        for name, numbers in (("prices", self.prices), ("factors", self.factors)):
            if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
                raise InputError(f"{name} must be a list of finite numbers, at least one.")
        if not 0.0 < efficiency <= 1.0 or not 0.0 <= stay <= 1.0:
            raise InputError(f"efficiency must lie in (0, 1] and stay in [0, 1], not {efficiency!r} and {stay!r}.")
        self.capacity, self.power = check_count("capacity", capacity), check_count("power", power)
        self.efficiency, self.stay = float(efficiency), float(stay)
        hours = len(self.prices)
        self.states = list(product(range(hours + 1), range(self.capacity + 1), range(len(self.factors))))
        self._index = {state: s for s, state in enumerate(self.states)}
        P, R = self._tables()
        self.reward_range = (float(R.min()), float(R.max()))
        start = np.zeros(len(self.states))
        first = check_index("charge", charge, self.capacity + 1)
        start[[self._index[0, first, f] for f in range(len(self.factors))]] = 1.0 / len(self.factors)
        prices_seen = np.append(self.prices, 0.0)
        seen = [(c, prices_seen[h] * self.factors[f], h) for h, c, f in self.states]
        if len(set(seen)) < len(seen):  # at rest all factors look alike
            seen = [
                (c, p if h < hours else float(f), h) for (c, p, h), (_, _, f) in zip(seen, self.states, strict=True)
            ]
        super().__init__(P, R, start=start, horizon=hours, coordinates=np.array(seen, dtype=np.float64))

    @staticmethod
    def kernel() -> Kernel:
        """A kernel that knows what depends on what, for ``CMERL(kernel=…)``.

        What an hour earns depends on the charge, the price and the action; what follows, on the charge and the hour,
        and on the price and the hour; all of it has a level in common. Lengthscales are shares of the observed
        ranges, and of an action.
        """
        earned = StateAction(Columns(RBF((0.25, 0.3)), (0, 1)), RBF(1.0))
        charge = StateAction(Columns(RBF((0.25, 0.08)), (0, 2)), RBF(1.0))
        price = StateAction(Columns(RBF((0.3, 0.08)), (1, 2)), Constant(1.0))
        return earned + charge + price + StateAction(Constant(1.0), Constant(1.0))

    def trade(self, charge: int, action: int, price: float) -> tuple[int, float]:
        """The charge after an hour, and the money; action 0 … 2·power discharges, rests or charges."""
        after = int(np.clip(charge + action - self.power, 0, self.capacity))
        moved, loss = after - charge, np.sqrt(self.efficiency)
        return after, float(-price * (moved / loss if moved > 0 else moved * loss))

    def _tables(self) -> tuple[Floats, Floats]:
        S, A, hours = len(self.states), 2 * self.power + 1, len(self.prices)
        P, R, move = np.zeros((S, A, S)), np.zeros((S, A)), self._factor_moves()
        for s, (hour, charge, f) in enumerate(self.states):
            for a in range(A):
                if hour == hours:
                    P[s, a, s] = 1.0
                    continue
                after, R[s, a] = self.trade(charge, a, self.prices[hour] * self.factors[f])
                for g, probability in enumerate(move[f]):
                    P[s, a, self._index[hour + 1, after, g]] += probability
        return P, R

    def _factor_moves(self) -> Floats:
        """How factors move (F, F): they stay, or go to a neighbour."""
        F = len(self.factors)
        move = np.zeros((F, F))
        for f in range(F):
            near = [g for g in (f - 1, f + 1) if 0 <= g < F]
            move[f, near] = (1.0 - self.stay) / max(len(near), 1)
            move[f, f] = self.stay if near else 1.0
        return move
