from __future__ import annotations

import numpy as np

from cmerl.experiments.statistics import mean_curve
from cmerl.report import curves

VALUES = np.random.default_rng(0).random((4, 137))


def test_a_smoothed_curve_is_the_mean_of_running_means() -> None:
    curve = curves.smoothed(VALUES)
    window = 137 // 20
    expected = [VALUES[:, max(e - window + 1, 0) : e + 1].mean() for e in range(137)]
    np.testing.assert_allclose(curve.mean, expected, rtol=1e-12)
    assert curve.episodes.tolist() == list(range(1, 138))


def test_a_sampled_curve_takes_values_as_they_are_with_their_band() -> None:
    curve = curves.sampled(VALUES, 50)
    assert len(curve.episodes) <= 50
    assert (curve.episodes[0], curve.episodes[-1]) == (1, 137)
    at = VALUES[:, curve.episodes - 1]
    mean, low, high = mean_curve(at, seed=curves.BOOTSTRAP_SEED, resamples=curves.RESAMPLES)
    np.testing.assert_array_equal(curve.mean, mean)
    np.testing.assert_array_equal(curve.low, low)
    np.testing.assert_array_equal(curve.high, high)


def test_a_single_seed_has_no_band_and_late_metrics_begin_late() -> None:
    values = VALUES[:1].copy()
    values[:, :30] = np.nan
    curve = curves.sampled(values)
    assert curve.low is None
    assert curve.episodes.tolist() == list(range(31, 138))


def test_many_curves_get_fewer_points_each_so_that_pages_stay_small() -> None:
    assert curves.points_each(1) == curves.MOST_POINTS == 1000
    for count in (1, 100, 1000, 2000):
        assert count * curves.points_each(count) <= max(curves.PAGE_POINTS, 1000)
    assert curves.points_each(10**6) == 50
