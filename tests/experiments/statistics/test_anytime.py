"""Confidence sequences: fairness of the game by enumeration, coverage at all times by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from cmerl.errors import InputError
from cmerl.experiments.statistics import anytime as anytime_module
from cmerl.experiments.statistics import anytime_comparison, confidence_sequence
from cmerl.experiments.statistics.anytime import log_wealth

LIMIT = np.log(1 / 0.05)


def share_ever_ruled_out(draws: np.ndarray, truth: float, bounds: tuple[float, float] | None = None) -> float:
    """Share of sequences (runs, n) that rule the truth out at any time."""
    return float((log_wealth(draws, truth, bounds).max(axis=1) >= LIMIT).mean())


@pytest.mark.parametrize("sizes", [[1.0], [1.0, 2.0, 0.1], [5.0, 5.0, 1e-3, 100.0, 7.0]])
def test_the_symmetric_game_is_fair_whatever_the_sizes(sizes: list[float]) -> None:
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(sizes))))
    # Over all sign choices each half of the money must keep its mean of ½.
    better = np.exp(log_wealth(signs * sizes, 0.0, None)[:, -1])
    gains = _halves(signs * sizes)
    np.testing.assert_allclose(gains.mean(axis=0), 0.5, rtol=1e-12)
    np.testing.assert_allclose(better, gains.max(axis=1), rtol=1e-12)


def _halves(x: np.ndarray) -> np.ndarray:
    """Money (runs, 2) bet on larger and on smaller differences, written as a plain product."""
    scale = np.sqrt(np.cumsum(x**2, axis=1) / np.arange(1, x.shape[1] + 1))
    up = np.mean([np.prod(1 + np.tanh(c * x / scale), axis=1) for c in anytime_module.STAKES], axis=0) / 2
    down = np.mean([np.prod(1 - np.tanh(c * x / scale), axis=1) for c in anytime_module.STAKES], axis=0) / 2
    return np.stack([up, down], axis=1)


def test_the_bounded_game_is_fair_for_a_skewed_law() -> None:
    # Differences 3 with probability ¼ and −1 otherwise: mean 0, not symmetric.
    sequences = np.array(list(itertools.product([3.0, -1.0], repeat=6)))
    chance = np.prod(np.where(sequences > 0, 0.25, 0.75), axis=1)
    money = np.exp(log_wealth(sequences, 0.0, (-2.0, 4.0))[:, -1])
    assert chance @ money <= 1.0
    up = np.mean([np.prod(1 + f * sequences / 2, axis=1) for f in anytime_module.FRACTIONS], axis=0) / 2
    down = np.mean([np.prod(1 - f * sequences / 4, axis=1) for f in anytime_module.FRACTIONS], axis=0) / 2
    assert chance @ up == pytest.approx(0.5)
    assert chance @ down == pytest.approx(0.5)
    np.testing.assert_allclose(money, np.maximum(up, down), rtol=1e-12)


@pytest.mark.parametrize("law", ["normal", "cauchy", "coin", "growing"])
def test_looking_at_every_seed_rarely_rules_out_the_truth_of_a_symmetric_law(law: str) -> None:
    rng = np.random.default_rng(0)
    size = (1000, 150)
    noise = {
        "normal": rng.normal(size=size),
        "cauchy": rng.standard_cauchy(size=size),
        "coin": rng.choice([-1.0, 1.0], size=size),
        "growing": rng.normal(size=size) * np.geomspace(1, 1000, 150),
    }[law]
    assert share_ever_ruled_out(noise + 3.0, 3.0) <= 0.05


def test_looking_at_every_seed_fools_the_ordinary_test() -> None:
    # What the confidence sequence is for: Student's test, watched, is wrong far more often than 5 %.
    noise = np.random.default_rng(1).normal(size=(1000, 40))
    wrong = [scipy.stats.ttest_1samp(noise[:, :n], 0.0, axis=1).pvalue <= 0.05 for n in range(6, 41)]
    assert np.any(wrong, axis=0).mean() > 0.15
    assert share_ever_ruled_out(noise, 0.0) <= 0.05


def test_a_narrower_sequence_would_be_caught() -> None:
    # The simulation above has the power to see a level that is not kept: a limit of 4 instead of 20 fails it.
    noise = np.random.default_rng(2).normal(size=(1000, 150))
    assert (log_wealth(noise, 0.0, None).max(axis=1) >= np.log(4)).mean() > 0.1


@pytest.mark.parametrize("rare", [0.02, 0.1, 0.5])
def test_bounds_keep_the_level_for_rare_disasters_where_symmetry_does_not(rare: float) -> None:
    disasters = (np.random.default_rng(3).random((1000, 150)) < rare).astype(float)
    assert share_ever_ruled_out(disasters, rare, (-1.0, 1.0)) <= 0.05
    if rare < 0.2:
        assert share_ever_ruled_out(disasters, rare) > 0.2  # as the docstring warns


@pytest.mark.parametrize("bounds", [None, (-10.0, 10.0)])
def test_ends_are_where_the_money_suffices(bounds: tuple[float, float] | None) -> None:
    x = np.random.default_rng(4).normal(1.0, size=30)
    low, high = confidence_sequence(x, bounds=bounds)
    assert low < x.mean() < high
    for end in (low, high):
        assert log_wealth(x, end, bounds)[-1] == pytest.approx(LIMIT, abs=1e-6)
    for theta in (low - 0.01, high + 0.01, low - 3, high + 3):
        assert log_wealth(x, theta, bounds)[-1] >= LIMIT


def test_the_interval_moves_with_the_units() -> None:
    x = np.random.default_rng(5).normal(size=20)
    low, high = confidence_sequence(x)
    np.testing.assert_allclose(confidence_sequence(1000 * x - 7), (1000 * low - 7, 1000 * high - 7), rtol=1e-6)
    low, high = confidence_sequence(x, bounds=(-5, 5))
    np.testing.assert_allclose(confidence_sequence(10 * x, bounds=(-50, 50)), (10 * low, 10 * high), rtol=1e-6)


def test_few_seeds_rule_nothing_out() -> None:
    assert confidence_sequence([3.0, 3.0, 3.0]) == (-np.inf, np.inf)
    assert confidence_sequence([3.0, 3.0], bounds=(-10.0, 10.0))[1] < 10.0  # where bounds already say something
    found = anytime_comparison([3.0], [0.0], seed=0)
    assert not found.decided
    assert found.p_value == 1.0


def test_equal_differences_are_pinned_down() -> None:
    low, high = confidence_sequence([3.0] * 12)
    assert low == pytest.approx(3.0, abs=1e-6)
    assert high == pytest.approx(3.0, abs=1e-6)


def test_agents_that_never_differ_never_decide() -> None:
    found = anytime_comparison([1.0] * 9, [1.0] * 9, seed=0)
    assert (found.mean, found.p_value, found.more_seeds) == (0.0, 1.0, None)


def test_a_clear_difference_is_decided_and_its_interval_excludes_zero() -> None:
    rng = np.random.default_rng(6)
    found = anytime_comparison(rng.normal(2.0, size=15), np.zeros(15), seed=0)
    assert found.decided
    assert found.low > 0
    assert found.p_value <= 0.05


def test_the_number_of_missing_seeds_is_about_right() -> None:
    rng = np.random.default_rng(7)
    waits = (log_wealth(rng.normal(0.7, size=(400, 300)), 0.0, None) >= LIMIT).argmax(axis=1) + 1
    seen = scipy.stats.norm.ppf((rng.permutation(8) + 0.5) / 8) + 0.7  # eight seeds that are just like the law
    found = anytime_comparison(seen, np.zeros(8), seed=0)
    assert found.more_seeds is not None
    assert np.quantile(waits, 0.25) <= 8 + found.more_seeds <= np.quantile(waits, 0.75)


def test_missing_seeds_shrink_as_seeds_come_in() -> None:
    x = np.tile([1.5, -0.5, 2.0, 0.0], 6)
    waits = [anytime_comparison(x[:n], np.zeros(n), seed=0).more_seeds for n in (4, 8, 12, 16, 24)]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > waits[-1]


def test_small_differences_say_that_the_end_is_not_in_sight() -> None:
    x = np.random.default_rng(8).normal(size=30)
    found = anytime_comparison(x - x.mean() + 0.01, np.zeros(30), seed=0, most=200)
    assert found.more_seeds is None
    assert not found.decided


@pytest.mark.parametrize(
    ("bounds", "message"),
    [((1.0, 2.0), "lo < 0 < hi"), ((-0.5, 0.5), "beyond the bounds"), ((2.0, -2.0), "lo < 0 < hi")],
)
def test_impossible_bounds_are_refused(bounds: tuple[float, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        anytime_comparison([1.0, 0.0], [0.0, 0.0], seed=0, bounds=bounds)
