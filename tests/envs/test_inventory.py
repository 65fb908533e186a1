"""The inventory world against its description by hand, by sampling, and against stockpyl's own dynamic program."""

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Inventory
from cmerl.errors import InputError
from cmerl.oracles import solve

DEMAND = [0.125, 0.25, 0.375, 0.125, 0.125]  # stockpyl wants a sum of 1 to the last bit


@pytest.mark.parametrize("coordinates", [False, True])
def test_gymnasiums_checker_has_no_complaint(coordinates):
    check_env(Inventory(coordinates=coordinates), skip_render_check=True)


def test_a_period_by_hand_when_demand_is_lost():
    shop = Inventory(capacity=10, prices={"sale": 3, "unit": 1, "order": 2, "holding": 0.5, "lost": 0.25})
    # 2 in store and 4 ordered meet a demand of 5: 5 sold, 1 left
    assert shop.period(2, 4, 5) == (1, 3 * 5 - 4 - 2 - 0.5)
    # nothing ordered: 2 sold, 3 lost
    assert shop.period(2, 0, 5) == (0, 3 * 2 - 3 * 0.25)
    # only what fits is ordered and paid for
    assert shop.period(9, 4, 0) == (10, -1 - 2 - 10 * 0.5)


def test_a_period_by_hand_when_demand_is_owed():
    shop = Inventory(capacity=10, backlog=2, prices={"sale": 3, "backlog": 0.5, "lost": 1})
    # 1 in store meets 5: 1 handed over, 2 owed (and paid for), 2 lost
    assert shop.period(1, 0, 5) == (-2, 3 * 3 - 2 * 0.5 - 2 * 1)


def test_tables_are_what_play_averages_to():
    shop = Inventory(capacity=6, max_order=3, demand=2.0)
    level, order = 2, 3
    outcomes, profits = np.zeros(7), []
    for seed in range(4000):
        shop.reset(seed=seed, options={"state": level})
        observation, profit, *_ = shop.step(order)
        outcomes[observation] += 1 / 4000
        profits.append(profit)
    np.testing.assert_allclose(outcomes, shop.P[level, order], atol=4 * 0.5 / np.sqrt(4000))
    assert abs(np.mean(profits) - shop.R[level, order]) < 4 * np.std(profits) / np.sqrt(4000)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of stockpyl, where Python compiles it here
@pytest.mark.parametrize("order_cost", [0.0, 3.0])
def test_the_optimum_is_stockpyls(order_cost, monkeypatch):
    from stockpyl import finite_horizon
    from stockpyl.demand_source import DemandSource

    # Its programme takes the loss of a period for that of a normal demand, whatever the demand is.
    law, loss = dict(enumerate(DEMAND)), finite_horizon.lf.discrete_loss
    monkeypatch.setattr(finite_horizon.lf, "normal_loss", lambda y, mean, sd: loss(y, pmf=law))
    periods = 6
    source = DemandSource(type="CD", demand_list=list(range(5)), probabilities=DEMAND)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own truncation, which does not bind here
        *_, cost, costs, _, levels = finite_horizon.finite_horizon_dp(
            periods, 0.5, 4.0, 0.0, 0.0, 1.0, order_cost, demand_source=source, initial_inventory_level=0
        )
    prices = {"sale": 0, "unit": 1, "order": order_cost, "holding": 0.5, "backlog": 4, "lost": 1000}
    shop = Inventory(capacity=30, backlog=30, max_order=30, demand=DEMAND, prices=prices, horizon=periods)
    V = solve(shop, periods).V[0]
    assert -V[30] == pytest.approx(cost, abs=1e-9)
    for level in (-3, 2, 5):
        assert -V[30 + level] == pytest.approx(costs[1, list(levels).index(level)], abs=1e-9)


def test_with_an_order_cost_small_orders_do_not_pay():
    best = solve(Inventory(), 20).Q[0].argmax(axis=1)
    placed = best[best > 0]
    assert len(placed) < len(best)
    assert placed.min() > 5


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"capacity": 0}, "capacity must be an integer of at least 1"),
        ({"backlog": -1}, "backlog must be an integer"),
        ({"stock": 99}, "stock must be an integer from 0 to 20"),
        ({"demand": -1.0}, "demand must have a positive finite mean"),
        ({"demand": "many"}, "demand must be an array of numbers, but is 'many'"),
        ({"demand": [0.5, 0.6]}, "demand must be a mean, or probabilities"),
        ({"prices": {"sail": 3}}, "prices know sale, .* but were given sail"),
        ({"prices": {"sale": np.nan}}, "prices must be finite, but sale"),
    ],
)
def test_wrong_options_are_named(wrong, what):
    with pytest.raises(InputError, match=what):
        Inventory(**wrong)
