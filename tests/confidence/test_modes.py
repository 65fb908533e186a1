"""Bonus modes: what they share, and the practical bonus by hand on counted data."""

import math

import numpy as np
import pytest
from counted import GAIN, SUM_R, WIDTH, A, H, S, problem, terms

from cmerl.confidence import (
    BonusTerms,
    Greedy,
    Paper,
    Practical,
)


def test_the_bonus_is_linear_and_quadratic_in_sigma():
    sigma = np.array([0.0, 0.5, 2.0])
    np.testing.assert_allclose(BonusTerms(3.0, 2.0).at(sigma), [0.0, 2.0, 14.0])
    assert not BonusTerms().at(sigma).any()


def test_the_data_have_the_gain_of_their_counts(data):
    assert data.information_gain == pytest.approx(GAIN)
    assert data.sum_r == pytest.approx(SUM_R)


@pytest.mark.parametrize("step", range(H))
def test_practical_bonus_is_the_scale_times_what_is_left(data, step):
    assert terms(Practical(), data, step) == BonusTerms()
    assert terms(Practical(sigma_scale=0.3), data, step) == pytest.approx(BonusTerms(0.3 * (H - 1 - step) * WIDTH))
    assert terms(Greedy(), data, step) == BonusTerms()


def test_automatic_constants_of_delta_kernels():
    setting = problem()
    assert setting.constant("B_P", "tight") == pytest.approx(math.sqrt(S * A))
    assert setting.constant("B_R", "tight") == pytest.approx(WIDTH * math.sqrt(S * A))
    assert setting.value_norm(3, "tight") == pytest.approx(3 * WIDTH * math.sqrt(S))
    assert problem(terminations=True).value_norm(3, "tight") == pytest.approx(3 * WIDTH * math.sqrt(S + 1))


def test_modes_are_plain_values_with_keyword_only_options():
    assert Practical(sigma_scale=0.2) == Practical(sigma_scale=0.2) != Practical()
    assert Paper(general=True) != Paper()
    with pytest.raises(TypeError):
        Practical(0.2)
