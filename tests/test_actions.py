"""Candidates of continuous actions cover the cube better than chance."""

import numpy as np
import pytest
from scipy.stats import qmc

from cmerl.actions import candidates, refine, sobol


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


def bump(centre, curvature=1.0):
    """A smooth function with its maximum at ``centre``, a few of them superposed so that it is no parabola."""

    def q(X):
        r2 = np.square(X - centre).sum(axis=1)
        return np.exp(-curvature * r2) + 0.1 * np.cos(3.0 * np.sqrt(r2))

    return q


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_refinement_comes_close_to_the_maximum_of_a_fine_grid(d, seed):
    rng = np.random.default_rng(seed)
    centre = rng.uniform(-0.8, 0.8, d)
    start = np.clip(centre + rng.uniform(-0.12, 0.12, d), -1.0, 1.0)
    q = bump(centre)
    found = refine(q, start, float(q(start[None])[0]), 0.125)
    axes = [np.linspace(max(c - 0.2, -1.0), min(c + 0.2, 1.0), 41) for c in start]
    brute = q(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d)).max()
    assert q(found[None])[0] >= brute - 1e-4
    assert np.linalg.norm(found - centre) < 0.01


def test_a_parabola_is_solved_in_one_round():
    centre = np.array([0.31, -0.27])
    found = refine(lambda X: -np.square(X - centre) @ np.array([1.0, 5.0]), np.array([0.25, -0.25]), -0.005, 0.125)
    np.testing.assert_allclose(found, centre, atol=1e-12)


def test_refinement_stays_in_the_cube_and_is_never_worse():
    slope = np.array([1.0, -2.0])
    found = refine(lambda X: X @ slope, np.array([0.95, -1.0]), 2.95, 0.125)
    np.testing.assert_allclose(found, [1.0, -1.0])
    rng = np.random.default_rng(0)
    for _ in range(50):
        W, start = rng.normal(size=(5, 2)), rng.uniform(-1, 1, 2)
        q = lambda X, W=W: np.sin(4 * X @ W.T).sum(axis=1)  # noqa: E731 - a rough one
        value = float(q(start[None])[0])
        found = refine(q, start, value, 0.125)
        assert q(found[None])[0] >= value
        assert np.abs(found).max() <= 1.0


def test_a_flat_function_leaves_the_start_as_it_is():
    start = np.array([0.5])
    assert refine(lambda X: np.zeros(len(X)), start, 0.0, 0.125) is start
