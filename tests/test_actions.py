"""Candidates of continuous actions cover the cube better than chance."""

import numpy as np
import pytest
from scipy.stats import qmc

from cmerl.actions import candidates, followed, refine, slope_by_differences, sobol


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
    """A smooth function with its maximum at ``centre``, two of them superposed so that it is no parabola."""

    def q(X):
        r2 = np.square(X - centre).sum(axis=1)
        return np.exp(-curvature * r2) + 0.1 * np.cos(3.0 * np.sqrt(r2))

    def slope(x):
        gap = x - centre
        r = max(np.linalg.norm(gap), 1e-12)
        return -2.0 * curvature * gap * np.exp(-curvature * r**2) - 0.3 * np.sin(3.0 * r) * gap / r

    return q, slope


def at(q, x):
    return float(q(x[None])[0])


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_refinement_comes_close_to_the_maximum_of_a_fine_grid(d, seed):
    rng = np.random.default_rng(seed)
    centre = rng.uniform(-0.8, 0.8, d)
    start = np.clip(centre + rng.uniform(-0.3, 0.3, d), -1.0, 1.0)
    q, slope = bump(centre)
    found = refine(q, slope, start, at(q, start))
    axes = [np.linspace(max(c - 0.4, -1.0), min(c + 0.4, 1.0), 41) for c in start]
    brute = q(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d)).max()
    assert at(q, found) >= brute - 1e-4
    assert np.linalg.norm(found - centre) < 0.02


def test_refinement_follows_the_gradient_round_a_bend():
    scales = np.array([1.0, 4.0])
    q, slope = (lambda X: -np.square(X - 0.2) @ scales), (lambda x: -2.0 * (x - 0.2) * scales)
    start = np.array([-0.1, 0.4])
    found = refine(q, slope, start, at(q, start))
    assert at(q, found) > 0.1 * at(q, start)  # nine tenths of the way up, which no single straight line reaches
    line = start + np.linspace(0.0, 1.0, 1000)[:, None] * slope(start)
    assert at(q, found) > q(line).max()


def test_refinement_stays_in_the_cube_and_climbs_along_its_walls():
    slope = np.array([10.0, -1.0])  # along the wall it is not steep
    found = refine(lambda X: X @ slope, lambda x: slope, np.array([1.0, -0.4]), 10.4)
    np.testing.assert_allclose(found, [1.0, -1.0])


def test_refinement_is_never_worse_whatever_the_slope():
    rng = np.random.default_rng(0)
    for _ in range(50):
        W, start, wrong = rng.normal(size=(5, 2)), rng.uniform(-1, 1, 2), rng.normal(size=2)
        q = lambda X, W=W: np.sin(4 * X @ W.T).sum(axis=1)  # noqa: E731 - a rough one
        found = refine(q, lambda x, wrong=wrong: wrong, start, at(q, start))
        assert at(q, found) >= at(q, start)
        assert np.abs(found).max() <= 1.0


def test_refinement_leaves_a_saddle_where_the_slope_is_zero():
    centre = np.array([0.2, -0.3])
    found = refine(lambda X: np.square(X - centre).sum(axis=1), lambda x: 2.0 * (x - centre), centre, 0.0)
    assert np.linalg.norm(found - centre) > 0.5


def test_a_flat_function_leaves_the_start_as_it_is():
    start = np.array([0.5])
    assert refine(lambda X: np.zeros(len(X)), np.zeros_like, start, 0.0) is start
    assert refine(lambda X: np.zeros(len(X)), np.ones_like, start, 0.0) is start


def test_differences_are_exact_for_parabolas():
    B = np.array([[1.0, 0.3, 0.0], [0.3, -2.0, 0.5], [0.0, 0.5, 0.7]])
    x = np.array([0.3, -1.0, 0.8])
    found = slope_by_differences(lambda X: np.einsum("ij,jk,ik->i", X, B, X) + X[:, 0], x)
    np.testing.assert_allclose(found, 2.0 * B @ x + [1.0, 0.0, 0.0], rtol=1e-12)


def left_over(rows, played):
    """Sum of squared distances to the nearest row."""
    return np.square(played[:, None] - rows).sum(axis=2).min(axis=1).sum()


def test_the_action_followed_first_is_the_best_single_one():
    rng = np.random.default_rng(1)
    fixed, played = rng.uniform(-1, 1, (5, 2)), rng.uniform(-1, 1, (40, 2))
    chosen = followed(fixed, played, 1)
    brute = min(left_over(np.vstack([fixed, a]), played) for a in played)
    assert left_over(np.vstack([fixed, chosen]), played) == pytest.approx(brute, rel=1e-12)
    assert brute < left_over(fixed, played)


def test_actions_followed_are_where_most_were_played_and_candidates_are_not():
    rng = np.random.default_rng(2)
    fixed = np.array([[0.0, 0.0], [1.0, 1.0]])
    crowds = np.array([[0.4, -0.6], [-0.7, 0.1]])
    played = np.vstack(
        [rng.normal(c, 0.03, (60, 2)) for c in crowds] + [fixed[0] + np.zeros((60, 2)), [[-1.0, -1.0]]]
    )
    chosen = followed(fixed, played, 2)
    assert np.linalg.norm(chosen[:, None] - crowds, axis=2).min(axis=0).max() < 0.05
    assert len(followed(fixed, fixed[[0, 1, 1, 0]] + 1e-9, 4)) == 0  # what is a candidate already is not followed
    assert len(followed(fixed, played, 200)) < 60  # nor is what lies close to one
