from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.experiments.statistics import (
    bootstrap_interval,
    episodes_to_threshold,
    late_regret,
    regret_exponent,
    summarise_regret,
    thin,
)


def test_late_regret_is_that_of_the_last_tenth() -> None:
    regrets = np.tile(np.arange(20.0), (2, 1))
    assert late_regret(regrets).tolist() == [18.5, 18.5]
    assert late_regret(regrets[:, :4]).tolist() == [3.0, 3.0]  # at least one episode


def test_summary_by_hand() -> None:
    # V* = 10, so that losing more than 2 at the end is being stuck: one seed of four.
    regrets = np.zeros((4, 10))
    regrets[:, 0] = [1.0, 2.0, 3.0, 4.0]
    regrets[:, -1] = [0.0, 2.0, 2.1, 0.0]
    summary = summarise_regret(regrets, optimum=10.0, seed=0)
    assert summary.mean == pytest.approx((1 + 4 + 5.1 + 4) / 4)
    assert summary.worst == pytest.approx(5.1)
    assert summary.stuck == 0.25
    assert (summary.low, summary.high) == bootstrap_interval(regrets.sum(axis=1), seed=0)


@given(points=st.integers(1, 5000), most=st.integers(4, 600))
def test_thinning_keeps_the_ends_and_no_more_than_asked(points: int, most: int) -> None:
    kept = thin(points, most)
    assert len(kept) <= most
    assert kept[0] == 0
    assert kept[-1] == points - 1
    assert (np.diff(kept) > 0).all()
    if points <= most:
        assert len(kept) == points


def test_episodes_to_a_threshold_by_hand() -> None:
    returns = [
        [0.0, 1.0, 0.0, 1.0, 1.0, 1.0],  # 1 at episode 2 by luck; two in a row at episode 5
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.9],  # never
    ]
    at_once = episodes_to_threshold(returns, 1.0, seed=0)
    assert at_once.episodes.tolist() == [2, 1, np.inf]
    assert at_once.reached == pytest.approx(2 / 3)
    assert at_once.median == 2
    assert at_once.restricted_mean.value == 3  # (2 + 1 + 6) / 3: the last is taken at the end of the experiment
    assert at_once.restricted_mean[1:] == bootstrap_interval([2, 1, 6], seed=0)
    assert episodes_to_threshold(returns, 1.0, seed=0, window=2).episodes.tolist() == [5, 2, np.inf]


def test_the_median_is_infinite_where_half_of_the_seeds_are_censored() -> None:
    returns = np.zeros((4, 10))
    returns[:2, 3] = 1.0
    found = episodes_to_threshold(returns, 1.0, seed=0)
    assert found.median == np.inf
    assert found.restricted_mean.value == 7.0
    returns[2, 5] = 1.0
    assert episodes_to_threshold(returns, 1.0, seed=0).median == 5.0  # of 4, 4, 6, ∞


def test_losses_reach_a_threshold_from_above() -> None:
    found = episodes_to_threshold([[3.0, 2.0, 1.0, 0.5]], 1.0, seed=0, below=True)
    assert found.episodes.tolist() == [3]


def test_a_moving_mean_that_hits_the_level_exactly_reaches_it() -> None:
    found = episodes_to_threshold([[0.1] * 50], 0.1, seed=0, window=7)
    assert found.episodes.tolist() == [7]


@given(st.integers(1, 6), st.integers(0, 1000))
def test_the_first_time_is_that_of_a_plain_search(window: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(5, 12))
    found = episodes_to_threshold(rows, 0.5, seed=0, window=window).episodes
    for row, episode in zip(rows, found, strict=True):
        hits = [t for t in range(window, 13) if row[t - window : t].mean() >= 0.5]
        assert episode == (hits[0] if hits else np.inf)


@pytest.mark.parametrize("window", [0, 11])
def test_a_window_beyond_the_episodes_is_refused(window: int) -> None:
    with pytest.raises(InputError, match="window must lie between 1 and the 10 episodes"):
        episodes_to_threshold(np.zeros((2, 10)), 1.0, seed=0, window=window)


@pytest.mark.parametrize("exponent", [0.25, 0.5, 1.0])
def test_a_power_law_has_its_own_exponent(exponent: float) -> None:
    cumulative = np.array([[2.0], [5.0]]) * np.arange(1.0, 2001) ** exponent
    found = regret_exponent(np.diff(cumulative, prepend=0.0), seed=0)
    np.testing.assert_allclose(found, exponent, atol=1e-9)


def test_the_exponent_is_the_slope_that_scipy_fits() -> None:
    regrets = np.random.default_rng(0).exponential(size=(1, 90)) / np.sqrt(np.arange(1, 91))
    fitted = np.arange(9, 91)  # few enough episodes that every one is used
    slope = scipy.stats.linregress(np.log(fitted), np.log(regrets[0].cumsum()[8:])).slope
    found = regret_exponent(regrets, seed=0)
    assert found.value == pytest.approx(slope, rel=0.02)
    assert np.isnan(found[1:]).all()


def test_the_interval_of_the_exponent_covers_it_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    growth = np.diff(np.arange(301.0) ** 0.5)
    hits = 0
    for seed in range(200):
        noise = rng.gamma(2.0, 0.5, size=(12, 300))
        found = regret_exponent(growth * noise, seed=seed, resamples=300)
        hits += found.low <= 0.5 <= found.high
    assert 0.8 <= hits / 200 <= 0.99


def test_no_regret_at_first_has_no_exponent() -> None:
    regrets = np.zeros((3, 50))
    assert np.isnan(regret_exponent(regrets, seed=0)).all()
    regrets[:, 0] = 1.0
    assert regret_exponent(regrets, seed=0) == (0.0, 0.0, 0.0)
