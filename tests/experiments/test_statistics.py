from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.experiments.statistics import (
    bootstrap_interval,
    late_regret,
    mean_curve,
    summarise_regret,
    thin,
)

values_lists = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=8)


def every_resample_mean(values: list[float]) -> np.ndarray:
    """Means of all nⁿ equally likely bootstrap samples: the distribution that resampling approximates."""
    return np.array([np.mean(sample) for sample in itertools.product(values, repeat=len(values))])


def test_interval_of_two_values_by_hand() -> None:
    # Resample means of {0, 1} are 0, ½, 1 with probabilities ¼, ½, ¼.
    assert bootstrap_interval([0.0, 1.0], seed=0) == (0.0, 1.0)
    assert bootstrap_interval([0.0, 1.0], seed=0, level=0.4) == (0.5, 0.5)


@pytest.mark.parametrize("values", [[1.0, 2.0, 4.0, 8.0], [0.0, 0.0, 0.0, 9.0], [-3.0, 1.0, 1.5, 20.0, 21.0]])
def test_interval_tends_to_that_of_all_resamples(values: list[float]) -> None:
    exact = every_resample_mean(values)
    low, high = bootstrap_interval(values, seed=1, level=0.9, resamples=40_000)
    # The estimated quantiles must lie between the exact ones at slightly smaller and larger probabilities.
    for estimate, p in ((low, 0.05), (high, 0.95)):
        assert np.quantile(exact, p - 0.01) - 1e-9 <= estimate <= np.quantile(exact, p + 0.01) + 1e-9


def test_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(0).gamma(1.5, size=16)
    reference = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    np.testing.assert_allclose(bootstrap_interval(values, seed=2, resamples=40_000), reference, rtol=0.01)


def test_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for seed in range(300):
        low, high = bootstrap_interval(rng.normal(size=25), seed=seed, resamples=400)
        hits += low <= 0.0 <= high
    assert 0.88 <= hits / 300 <= 0.98  # percentile intervals of 25 normals cover some 93 %


@given(values=values_lists, seed=st.integers(0, 100))
def test_interval_is_deterministic_and_lies_within_the_values(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, seed=seed, resamples=50)
    assert (low, high) == bootstrap_interval(values, seed=seed, resamples=50)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


@given(values=values_lists, shift=st.floats(-100, 100), scale=st.floats(0.1, 10))
def test_interval_moves_with_the_units(values: list[float], shift: float, scale: float) -> None:
    low, high = bootstrap_interval(values, seed=0, resamples=50)
    moved = bootstrap_interval(scale * np.array(values) + shift, seed=0, resamples=50)
    np.testing.assert_allclose(moved, (scale * low + shift, scale * high + shift), atol=1e-8)


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert bootstrap_interval([0.1] * 7, seed=0) == (0.1, 0.1)


def test_a_single_value_has_no_interval() -> None:
    assert np.isnan(bootstrap_interval([3.0], seed=0)).all()
    mean, low, high = mean_curve([[1.0, 2.0]], seed=0)
    assert mean.tolist() == [1.0, 2.0]
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "shape"),
        ([[1.0, 2.0]], {}, "shape"),
        ([1.0, np.nan], {}, "finite"),
        ([1.0, 2.0], {"level": 1.0}, "level"),
        ([1.0, 2.0], {"resamples": 0}, "resamples"),
    ],
)
def test_nonsense_is_refused(values: object, options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bootstrap_interval(values, seed=0, **options)


def test_curve_is_the_interval_at_every_point() -> None:
    curves = np.random.default_rng(4).random((6, 9)).cumsum(axis=1)
    mean, low, high = mean_curve(curves, seed=5)
    np.testing.assert_allclose(mean, curves.mean(axis=0), rtol=1e-12)
    for point in range(9):
        np.testing.assert_allclose(
            (low[point], high[point]), bootstrap_interval(curves[:, point], seed=5), rtol=1e-12
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
