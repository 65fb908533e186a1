"""Projected gradient ascent: close to the maximum, inside the cube, never worse."""

import numpy as np
import pytest

from cmerl.acting.refine import Refined
from cmerl.searching.ascent import refine

ROUNDS, LENGTHS = Refined().rounds, Refined().lengths


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
    found = refine(q, slope, start, ROUNDS, LENGTHS)
    axes = [np.linspace(max(c - 0.4, -1.0), min(c + 0.4, 1.0), 41) for c in start]
    brute = q(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d)).max()
    assert at(q, found) >= brute - 1e-4
    assert np.linalg.norm(found - centre) < 0.02


def test_refinement_follows_the_gradient_round_a_bend():
    scales = np.array([1.0, 4.0])
    q, slope = (lambda X: -np.square(X - 0.2) @ scales), (lambda x: -2.0 * (x - 0.2) * scales)
    start = np.array([-0.1, 0.4])
    found = refine(q, slope, start, ROUNDS, LENGTHS)
    assert at(q, found) > 0.1 * at(q, start)  # nine tenths of the way up, which no single straight line reaches
    line = start + np.linspace(0.0, 1.0, 1000)[:, None] * slope(start)
    assert at(q, found) > q(line).max()


def test_refinement_stays_in_the_cube_and_climbs_along_its_walls():
    slope = np.array([10.0, -1.0])  # along the wall it is not steep
    found = refine(lambda X: X @ slope, lambda x: slope, np.array([1.0, -0.4]), ROUNDS, LENGTHS)
    np.testing.assert_allclose(found, [1.0, -1.0])


def test_refinement_is_never_worse_whatever_the_slope():
    rng = np.random.default_rng(0)
    for _ in range(50):
        W, start, wrong = rng.normal(size=(5, 2)), rng.uniform(-1, 1, 2), rng.normal(size=2)
        q = lambda X, W=W: np.sin(4 * X @ W.T).sum(axis=1)  # noqa: E731 - a rough one
        found = refine(q, lambda x, wrong=wrong: wrong, start, ROUNDS, LENGTHS)
        assert at(q, found) >= at(q, start)
        assert np.abs(found).max() <= 1.0


def test_refinement_leaves_a_saddle_where_the_slope_is_zero():
    centre = np.array([0.2, -0.3])
    found = refine(lambda X: np.square(X - centre).sum(axis=1), lambda x: 2.0 * (x - centre), centre, ROUNDS, LENGTHS)
    assert np.linalg.norm(found - centre) > 0.5


def test_a_flat_function_leaves_the_start_as_it_is():
    start = np.array([0.5])
    assert refine(lambda X: np.zeros(len(X)), np.zeros_like, start, ROUNDS, LENGTHS) is start
    assert refine(lambda X: np.zeros(len(X)), np.ones_like, start, ROUNDS, LENGTHS) is start
