"""Bonus terms: a polynomial of σ and two norms, which can be added and scaled."""

import numpy as np

from cmerl.confidence import BonusTerms

SIGMA, WEIGHTS, SHRINKAGE = np.array([0.0, 0.5, 2.0]), np.array([1.0, 0.3, 0.0]), np.array([0.2, 0.1, 0.9])
ONE, OTHER = BonusTerms(1.0, 2.0, 3.0, 4.0, 5.0), BonusTerms(linear=0.5, constant=-1.0)


def test_a_bonus_is_the_sum_of_its_terms() -> None:
    expected = 1.0 * SIGMA + 2.0 * SIGMA**2 + 3.0 * WEIGHTS + 4.0 + 5.0 * SHRINKAGE
    np.testing.assert_allclose(ONE.at(SIGMA, WEIGHTS, SHRINKAGE), expected)
    np.testing.assert_array_equal(BonusTerms().at(SIGMA), 0.0)


def test_bonuses_are_added_and_scaled_as_functions() -> None:
    both = ONE.at(SIGMA, WEIGHTS, SHRINKAGE) + OTHER.at(SIGMA, WEIGHTS, SHRINKAGE)
    np.testing.assert_allclose(ONE.plus(OTHER).at(SIGMA, WEIGHTS, SHRINKAGE), both)
    np.testing.assert_allclose(ONE.times(2.5).at(SIGMA, WEIGHTS), 2.5 * ONE.at(SIGMA, WEIGHTS))
