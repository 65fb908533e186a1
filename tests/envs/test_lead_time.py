"""LeadTimeInventory: periods by hand, tables, and the newsvendor."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.envs import LeadTimeInventory
from cmerl.oracles import solve

DEMAND = np.array([0.25, 0.5, 0.25])


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
