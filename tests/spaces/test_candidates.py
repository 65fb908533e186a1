"""Candidates of continuous actions cover the cube better than chance."""

import numpy as np
import pytest
from scipy.stats import qmc

from cmerl.spaces.candidates import candidates, sobol


@pytest.mark.parametrize("d", [2, 3, 5])
def test_inner_points_are_far_more_even_than_random_ones(d):
    points = sobol(32, d, np.random.default_rng(0))
    random = [qmc.discrepancy(np.random.default_rng(seed).random((32, d))) for seed in range(30)]
    assert qmc.discrepancy(points) < np.min(random)


def test_one_dimension_is_an_even_grid_and_doing_nothing():
    rows = candidates(np.array([0.1]), np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(rows[1:, 0]), np.linspace(-1, 1, 9))
    assert rows[0, 0] == 0.1
    assert len(candidates(np.array([0.0]), np.random.default_rng(0))) == 9


@pytest.mark.parametrize("d", [2, 3, 4, 8])
def test_every_point_of_the_cube_has_a_candidate_near(d):
    rows = candidates(np.zeros(d), np.random.default_rng(1))
    assert np.abs(rows).max() <= 1.0
    assert len(np.unique(rows, axis=0)) == len(rows)
    cube = np.random.default_rng(2).uniform(-1, 1, (2000, d))
    farthest = np.linalg.norm(cube[:, None] - rows, axis=2).min(axis=1).max()
    assert farthest < 0.75 * np.sqrt(d)  # the centre alone has √d


def test_their_number_follows_the_settings():
    assert len(candidates(np.array([0.1]), np.random.default_rng(0), per_dimension=4)) == 6
    assert len(candidates(np.zeros(3), np.random.default_rng(0), per_dimension=100, most=40)) == 40
