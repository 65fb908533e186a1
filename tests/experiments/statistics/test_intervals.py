from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.experiments.statistics import bootstrap_interval, mean_curve, stratified_bootstrap

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


def pooled_mean(samples):
    return np.concatenate(samples, axis=-1).mean(axis=-1)


def test_stratified_resamples_are_those_of_every_environment_together() -> None:
    # Means of all 2² · 3³ equally likely samples that draw two seeds from the first and three from the second.
    first, second = [0.0, 4.0], [10.0, 11.0, 15.0]
    exact = np.array(
        [np.mean([*x, *y]) for x in itertools.product(first, repeat=2) for y in itertools.product(second, repeat=3)]
    )
    found = stratified_bootstrap({"a": first, "b": second}, pooled_mean, seed=0, level=0.9, resamples=40_000)
    assert found.value == np.mean([*first, *second])
    for estimate, p in ((found.low, 0.05), (found.high, 0.95)):
        assert np.quantile(exact, p - 0.01) - 1e-9 <= estimate <= np.quantile(exact, p + 0.01) + 1e-9


def test_environments_that_differ_do_not_widen_the_interval() -> None:
    scores = {"easy": [100.0, 100.0, 100.0], "hard": [0.0, 0.0, 0.0]}
    assert stratified_bootstrap(scores, pooled_mean, seed=0) == (50.0, 50.0, 50.0)
    low, high = bootstrap_interval([100.0] * 3 + [0.0] * 3, seed=0)  # unstratified: as if the worlds were drawn too
    assert high - low > 50


def test_one_seed_everywhere_has_no_stratified_interval() -> None:
    found = stratified_bootstrap([[1.0], [3.0]], pooled_mean, seed=0)
    assert found.value == 2.0
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize(
    ("scores", "message"),
    [({}, "at least one environment"), ({"a": []}, "'a'"), ({"a": [1.0], "b": [np.inf]}, r"\['b'\] must be finite")],
)
def test_scores_that_say_nothing_are_refused_by_name(scores: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stratified_bootstrap(scores, pooled_mean, seed=0)
