"""The rule for switching: a paired gain beyond its standard error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from cmerl.model_selection.rule import exceeds, neighbours


@pytest.mark.parametrize("t", [-1.02, 0.5, 0.98, 1.02, 3.0])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_a_challenger_must_gain_more_than_the_standard_error_of_the_pairs(t: float, n: int) -> None:
    rng = np.random.default_rng(n)
    incumbent, noise = rng.normal(0.0, 5.0, n), rng.normal(size=n)
    challenger = incumbent + noise - noise.mean() + t * stats.sem(noise)
    assert stats.ttest_rel(challenger, incumbent).statistic == pytest.approx(t)
    assert exceeds(challenger, incumbent) is (t > 1.0)
    assert exceeds(incumbent, challenger) is (t < -1.0)


def test_of_one_case_there_is_no_standard_error() -> None:
    assert exceeds(np.array([1.0]), np.array([0.9]))
    assert not exceeds(np.array([1.0]), np.array([1.0]))


@pytest.mark.parametrize(("value", "found"), [(8, (8, 14)), (14, (8, 14, 22)), (22, (14, 22)), (9, (8, 14, 22))])
def test_what_was_chosen_is_compared_with_the_next_values(value: int, found: tuple[int, ...]) -> None:
    assert neighbours((8, 14, 22), value) == found
