"""The worlds of the worked cases: by hand, against stockpyl's newsvendor, and against a recursion of our own."""

from __future__ import annotations

from functools import lru_cache

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Battery, LeadTimeInventory
from cmerl.errors import InputError
from cmerl.oracles import solve

DEMAND = np.array([0.25, 0.5, 0.25])


@pytest.mark.parametrize("world", ["cmerl/LeadTimeInventory-v0", "cmerl/Battery-v0"])
def test_gymnasiums_checker_has_no_complaint(world: str) -> None:
    check_env(gymnasium.make(world).unwrapped, skip_render_check=True)


def test_a_period_by_hand() -> None:
    shop = LeadTimeInventory(prices={"unit": 0.5, "order": 2.0})
    # 4 in store, 3 under way, 1 ordered, 2 wanted: 2 are left over, then 3 arrive
    assert shop.period((4, 3), 1, 2) == ((5, 1), -(0.5 + 2.0 + 2 * 1.0))
    # 1 owed and 2 wanted: 3 are owed, then 0 arrive
    assert shop.period((-1, 0), 0, 2) == ((-3, 0), -3 * 4.0)
    # owed beyond the limit of 6: one sale is lost
    assert shop.period((-5, 2), 0, 2) == ((-4, 0), -(6 * 4.0 + 4.0))
    # what does not fit is sent back
    assert shop.period((10, 4), 4, 0) == ((10, 4), -(4 * 0.5 + 2.0 + 10.0))


def test_observed_are_stock_and_position() -> None:
    shop = LeadTimeInventory(lead_time=3)
    shop.reset(seed=0)
    shop.step(2)
    observed, *_ = shop.step(3)
    state = (shop.levels[shop.state], *shop.pipelines[shop.state])
    assert observed.tolist() == np.cumsum(state).tolist()
    assert observed[2] - observed[1] == 3  # the later order arrives last


def test_tables_are_what_play_averages_to() -> None:
    shop = LeadTimeInventory()
    start, order, rewards = int(np.argmax(shop.start)), 3, []
    counts = np.zeros(len(shop.levels))
    for seed in range(3000):
        shop.reset(seed=seed)
        _, reward, *_ = shop.step(order)
        counts[shop.state] += 1 / 3000
        rewards.append(reward)
    np.testing.assert_allclose(counts, shop.P[start, order], atol=4 * 0.5 / np.sqrt(3000))
    assert abs(np.mean(rewards) - shop.R[start, order]) < 4 * np.std(rewards) / np.sqrt(3000)
    assert shop.reward_range[0] <= min(rewards)
    assert max(rewards) <= shop.reward_range[1]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of stockpyl, where Python compiles it here
def test_the_optimum_is_stockpyls_newsvendor() -> None:
    """With a lead time of 2, all that is owed and no cost of orders, the position is held at the level that a
    newsvendor with the demand of three periods orders up to; the first two periods cannot be changed any more."""
    from stockpyl.newsvendor import newsvendor_discrete

    three = np.convolve(np.convolve(DEMAND, DEMAND), DEMAND)
    level, cost = newsvendor_discrete(holding_cost=1, stockout_cost=4, demand_pmf=dict(enumerate(three.tolist())))
    T, stock = 8, 2
    shop = LeadTimeInventory(capacity=8, backlog=10, max_order=6, demand=DEMAND, stock=stock, horizon=T)
    assert 0 <= level - stock <= 6

    def expected(law: np.ndarray) -> float:
        left = stock - np.arange(len(law))
        return float(law @ np.where(left > 0, left, -4.0 * left))

    sunk = expected(DEMAND) + expected(np.convolve(DEMAND, DEMAND))
    assert -shop.start @ solve(shop, T).V[0] == pytest.approx(sunk + (T - 2) * cost, rel=1e-9)


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


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Battery(prices=[]), "prices must be a list of finite numbers"),
        (lambda: Battery(efficiency=0.0), "efficiency must lie in"),
        (lambda: LeadTimeInventory(lead_time=0), "lead_time must be an integer of at least 1"),
        (lambda: LeadTimeInventory(lead_time=6), "too many for tables"),
    ],
)
def test_what_makes_no_world(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()  # type: ignore[operator]


def test_their_kernels_fit_their_agents() -> None:
    import cmerl

    for world in (LeadTimeInventory(), Battery()):
        agent = cmerl.CMERL(world, kernel=world.kernel(), reward_range=world.reward_range).learn(1)
        assert agent.model.n == world.horizon
