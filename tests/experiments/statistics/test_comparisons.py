from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.experiments.statistics import compare_all, holm, paired_difference

few_differences = st.lists(st.integers(-20, 20), min_size=1, max_size=7)


def p_values_of(differences: list[int], thetas: np.ndarray) -> np.ndarray:
    """Share of all sign choices whose sum is at least as far from 0: the definition of the test, for every θ."""
    centred = np.array(differences, dtype=float) - thetas[:, None]
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(differences))))
    return (np.abs(centred @ signs.T) >= np.abs(centred.sum(axis=1))[:, None] - 1e-9).mean(axis=1)


@given(few_differences)
def test_p_value_is_the_share_of_sign_choices(differences: list[int]) -> None:
    found = paired_difference(differences, np.zeros(len(differences)), seed=0)
    assert found.p_value == pytest.approx(p_values_of(differences, np.zeros(1))[0])
    assert found.mean == pytest.approx(np.mean(differences))


@given(few_differences, st.sampled_from([0.5, 0.8, 0.95]))
@settings(deadline=None)
def test_interval_holds_exactly_what_the_test_does_not_reject(differences: list[int], level: float) -> None:
    found = paired_difference(differences, np.zeros(len(differences)), seed=0, level=level)
    # Means of subsets are where the p-value jumps; between and beyond them it is constant.
    subsets = np.array(list(itertools.product([0, 1], repeat=len(differences))))[1:]
    jumps = np.unique(subsets @ differences / subsets.sum(axis=1))
    jumps = jumps[np.append(True, np.diff(jumps) > 1e-9)]
    corners = np.array([jumps[0] - 2, *jumps, jumps[-1] + 2])
    thetas = (corners[1:] + corners[:-1]) / 2
    kept = (found.low <= thetas) & (thetas <= found.high)
    np.testing.assert_array_equal(kept, p_values_of(differences, thetas) > 1 - level)


def test_p_value_agrees_with_scipy_on_few_and_on_many_seeds() -> None:
    rng = np.random.default_rng(0)
    for n in (5, 9, 12, 40):
        a, b = rng.gamma(2.0, size=n) + 0.3, rng.gamma(2.0, size=n)
        reference = scipy.stats.permutation_test(
            (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=20_000, rng=rng
        )
        assert paired_difference(a, b, seed=0).p_value == pytest.approx(
            reference.pvalue, abs=1e-9 if n < 14 else 0.02
        )


def test_interval_of_many_seeds_is_close_to_students() -> None:
    x = np.random.default_rng(1).normal(1.0, 2.0, size=60)
    found = paired_difference(x, np.zeros(60), seed=0)
    student = scipy.stats.ttest_1samp(x, 0.0).confidence_interval()
    np.testing.assert_allclose((found.low, found.high), student, atol=0.1)


def test_interval_of_enumerated_signs_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    hits = [
        (found := paired_difference(rng.laplace(3.0, size=8), np.zeros(8), seed=0)).low <= 3.0 <= found.high
        for _ in range(600)
    ]
    # Exactly 1 − 6/128 = 95.3 %, here with four standard errors.
    assert abs(np.mean(hits) - 122 / 128) < 4 * np.sqrt(0.953 * 0.047 / 600)


def test_five_seeds_cannot_say_anything_at_95_per_cent() -> None:
    found = paired_difference([10.0] * 5, [0.0] * 5, seed=0)
    assert (found.low, found.high, found.p_value) == (-np.inf, np.inf, 1 / 16)
    six = paired_difference([10.0] * 6, [0.0] * 6, seed=0)
    assert (six.low, six.high, six.p_value) == (10.0, 10.0, 1 / 32)


def test_a_shift_of_units_moves_the_interval_and_nothing_else() -> None:
    x = np.random.default_rng(3).normal(size=10)
    near, far = paired_difference(x, np.zeros(10), seed=0), paired_difference(x + 1e6, np.zeros(10), seed=0)
    np.testing.assert_allclose((far.low - 1e6, far.high - 1e6), (near.low, near.high), atol=1e-8)


def test_drawn_signs_depend_on_the_seed_alone() -> None:
    a, b = np.random.default_rng(4).normal(size=(2, 30))
    assert paired_difference(a, b, seed=0) == paired_difference(a, b, seed=0)
    assert paired_difference(a, b, seed=0) != paired_difference(a, b, seed=1)


def test_different_numbers_of_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="same seeds, not 2 and 3"):
        paired_difference([1.0, 2.0], [1.0, 2.0, 3.0], seed=0)


def test_holm_by_hand() -> None:
    # 4·.01, 3·.02, 2·.03 and .04, none below the one before it.
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03, 0.02]), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.9, 0.5]), [1.0, 1.0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_its_steps_reject(p_values: list[float], alpha: float) -> None:
    rejected = set()
    for left, i in zip(range(len(p_values), 0, -1), np.argsort(p_values, kind="stable"), strict=True):
        if p_values[i] * left > alpha:
            break
        rejected.add(i)
    assert set(np.flatnonzero(holm(p_values) <= alpha)) == rejected


def test_holm_keeps_any_false_rejection_rare_where_plain_p_values_do_not() -> None:
    rng = np.random.default_rng(5)
    plain = corrected = 0
    for _ in range(300):
        scores = {agent: {"env": rng.normal(size=9)} for agent in "abcd"}
        found = compare_all(scores, seed=0)
        plain += min(c.difference.p_value for c in found) <= 0.05
        corrected += min(c.adjusted_p for c in found) <= 0.05
    assert plain / 300 > 0.1
    assert corrected / 300 < 0.08


def test_every_pair_is_compared_where_both_played() -> None:
    rng = np.random.default_rng(6)
    scores = {
        "a": {"x": rng.normal(size=7), "y": rng.normal(size=7)},
        "b": {"x": rng.normal(size=7), "y": rng.normal(size=7)},
        "c": {"x": rng.normal(size=7)},
    }
    found = compare_all(scores, seed=0)
    assert [(c.a, c.b, c.env) for c in found] == [
        ("a", "b", "x"),
        ("a", "b", "y"),
        ("a", "c", "x"),
        ("b", "c", "x"),
    ]
    assert [c.adjusted_p for c in found] == holm([c.difference.p_value for c in found]).tolist()
    assert found[0].difference == paired_difference(scores["a"]["x"], scores["b"]["x"], seed=0)
    assert [(c.a, c.b, c.env) for c in compare_all(scores, seed=0, baseline="c")] == [
        ("a", "c", "x"),
        ("b", "c", "x"),
    ]
    assert compare_all({"a": scores["a"]}, seed=0) == ()


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(InputError, match="no agent 'z' to compare with, only 'a'"):
        compare_all({"a": {"x": [1.0]}}, seed=0, baseline="z")
