from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.experiments.statistics import interquartile_mean, probability_of_improvement
from cmerl.experiments.statistics.aggregates import middle_half_mean


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([5.0], 5.0),
        ([0.0, 1.0], 0.5),
        ([0.0, 3.0, 100.0], (0.25 * 0 + 3 + 0.25 * 100) / 1.5),
        ([100.0, 1.0, 3.0, 0.0], 2.0),
        ([9.0, 1.0, 2.0, 4.0, 100.0], (0.75 * 2 + 4 + 0.75 * 9) / 2.5),
    ],
)
def test_middle_half_by_hand(values: list[float], mean: float) -> None:
    assert middle_half_mean(np.array(values)) == pytest.approx(mean)


@given(st.integers(1, 20), st.integers(0, 100))
def test_middle_half_of_a_multiple_of_four_is_scipys_trimmed_mean(quarter: int, seed: int) -> None:
    values = np.random.default_rng(seed).standard_cauchy((3, 4 * quarter))
    np.testing.assert_allclose(
        middle_half_mean(values), scipy.stats.trim_mean(values, 0.25, axis=1), rtol=1e-9, atol=1e-9
    )


@given(st.integers(1, 30), st.integers(0, 100))
def test_middle_half_does_not_change_when_every_value_is_repeated(n: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    assert middle_half_mean(values) == pytest.approx(scipy.stats.trim_mean(np.repeat(values, 4), 0.25))


def test_interquartile_mean_ignores_a_stuck_seed() -> None:
    scores = {"a": [0.9, 0.91, 0.92, 0.93], "b": [0.9, 0.94, 0.9, -50.0]}
    found = interquartile_mean(scores, seed=0)
    assert found.value == pytest.approx(scipy.stats.trim_mean([0.9, 0.91, 0.92, 0.93, 0.9, 0.94, 0.9, -50.0], 0.25))
    assert found.low <= found.value <= found.high
    assert found == interquartile_mean(scores, seed=0)


def test_interval_of_the_interquartile_mean_agrees_with_scipy() -> None:
    values = np.random.default_rng(0).gamma(2.0, size=24)
    found = interquartile_mean([values], seed=0, resamples=20_000)
    reference = scipy.stats.bootstrap(
        (values,),
        lambda x, axis: scipy.stats.trim_mean(x, 0.25, axis=axis),
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    np.testing.assert_allclose(found[1:], reference, rtol=0.02)


def test_probability_of_improvement_is_the_mean_of_mann_whitney() -> None:
    rng = np.random.default_rng(2)
    a = {"x": rng.integers(0, 5, 7).astype(float), "y": rng.integers(0, 5, 5).astype(float)}
    b = {"y": rng.integers(0, 5, 6).astype(float), "x": rng.integers(0, 5, 4).astype(float)}  # in any order
    expected = np.mean(
        [scipy.stats.mannwhitneyu(a[env], b[env]).statistic / (len(a[env]) * len(b[env])) for env in "xy"]
    )
    assert probability_of_improvement(a, b, seed=0).value == pytest.approx(expected)
    assert probability_of_improvement(b, a, seed=0).value == pytest.approx(1 - expected)


def test_probability_of_improvement_at_its_ends() -> None:
    low, high = [[1.0, 2.0, 3.0]], [[4.0, 5.0]]
    assert probability_of_improvement(high, low, seed=0) == (1.0, 1.0, 1.0)
    assert probability_of_improvement(low, high, seed=0) == (0.0, 0.0, 0.0)
    assert probability_of_improvement([[7.0, 7.0]], [[7.0]], seed=0) == (0.5, 0.5, 0.5)


def test_probability_of_improvement_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    truth = scipy.stats.norm.cdf(0.5 / np.sqrt(2))
    hits = 0
    for seed in range(200):
        a, b = rng.normal(0.5, size=(2, 15)), rng.normal(size=(2, 15))
        found = probability_of_improvement(list(a), list(b), seed=seed, resamples=300)
        hits += found.low <= truth <= found.high
    assert 0.86 <= hits / 200 <= 0.99


def test_agents_in_different_environments_are_not_compared() -> None:
    with pytest.raises(InputError, match=r"same environments, not \['x'\] and \['y'\]"):
        probability_of_improvement({"x": [1.0]}, {"y": [1.0]}, seed=0)
