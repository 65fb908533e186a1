"""Battery: hours by hand and its optimum."""

from __future__ import annotations

from functools import lru_cache

import pytest

from cmerl.envs import Battery
from cmerl.oracles import solve


def test_an_hour_by_hand() -> None:
    battery = Battery(efficiency=0.81)
    assert battery.trade(0, 2, 20.0) == (1, pytest.approx(-20.0 / 0.9))
    assert battery.trade(3, 0, 20.0) == (2, pytest.approx(20.0 * 0.9))
    assert battery.trade(2, 1, 20.0) == (2, 0.0)
    assert battery.trade(0, 0, 20.0) == (0, 0.0)  # nothing to sell
    assert battery.trade(4, 2, 20.0) == (4, 0.0)  # no room


def test_the_optimum_on_the_grid_is_that_of_a_recursion() -> None:
    battery = Battery(prices=[10, 30, 20, 40], capacity=2, power=2, factors=(0.5, 1.5), stay=0.6)

    @lru_cache
    def value(hour: int, charge: int, f: int) -> float:
        if hour == 4:
            return 0.0
        found = []
        for action in range(5):
            after, money = battery.trade(charge, action, [10, 30, 20, 40][hour] * (0.5, 1.5)[f])
            found.append(money + 0.6 * value(hour + 1, after, f) + 0.4 * value(hour + 1, after, 1 - f))
        return max(found)

    V = solve(battery, battery.horizon).V[0]
    for s, state in enumerate(battery.states):
        if state[0] == 0:
            assert V[s] == pytest.approx(value(*state))


def test_prices_that_are_certain() -> None:
    """Buy low, sell high, by hand: two units at 10 and out at 30, one more round at 20 and 40."""
    battery = Battery(prices=[10, 30, 20, 40], capacity=2, power=2, factors=(1.0,), efficiency=1.0)
    assert battery.start @ solve(battery, 4).V[0] == pytest.approx(2 * (30 - 10) + 2 * (40 - 20))
