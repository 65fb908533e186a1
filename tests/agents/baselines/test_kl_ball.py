"""The largest mean over a KL ball of laws, against brute force and Bernoulli's formula."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines import kl_ball, l1_ball


def test_of_what_is_unknown_everything_is_possible() -> None:
    nothing, v = np.zeros((2, 3)), np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    for ball in (l1_ball, kl_ball):
        np.testing.assert_allclose(ball.largest_mean(nothing, v, 4.0, np.full(2, 0.3)), 4.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_kl_ball_against_brute_force(seed: int) -> None:
    # Three atoms: all laws on a fine grid of the simplex that lie within the ball.
    rng = np.random.default_rng(seed)
    v = np.array([0.0, 1.0, 2.5]) * rng.uniform(0.5, 2)
    p = rng.dirichlet(np.ones(3))
    if seed % 2:
        p[2], p = 0.0, p / (p[0] + p[1])  # the best was never seen
        p[2] = 0.0
    q1, q2 = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801))
    q = np.stack([q1, q2, 1 - q1 - q2], axis=-1).reshape(-1, 3)
    q = q[(q > -1e-12).all(axis=1)].clip(1e-300)
    divergence = np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0) / q), 0.0).sum(axis=1)
    for eps in (0.003, 0.05, 0.4, 2.0):
        best = (q[divergence <= eps] @ v).max()
        seen = np.flatnonzero(p)
        mine = float(kl_ball.largest_mean(p[seen], v[seen], float(v.max()), np.array(eps)))
        assert best - 1e-9 <= mine <= best + 0.02


def test_the_kl_ball_of_two_outcomes_is_bernoullis() -> None:
    # q·v = q for v = (0, 1): the largest q with kl(p, q) = ε, by bisection of the textbook formula.
    p, eps = 0.3, 0.08
    low, high = p, 1.0
    for _ in range(200):
        q = (low + high) / 2
        kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
        low, high = (q, high) if kl < eps else (low, q)
    mine = kl_ball.largest_mean(np.array([0.7, 0.3]), np.array([0.0, 1.0]), 1.0, np.array(eps))
    assert float(mine) == pytest.approx(low, abs=1e-9)


def test_kl_balls_shrink_to_the_mean_and_grow_to_the_maximum() -> None:
    p, v = np.array([0.2, 0.5, 0.3]), np.array([1.0, 0.0, 2.0])
    radii = np.array([0.0, 1e-8, 1e-4, 1e-2, 1.0, 50.0, np.inf])
    means = kl_ball.largest_mean(np.tile(p, (7, 1)), np.tile(v, (7, 1)), 3.0, radii)
    assert (np.diff(means) > -1e-12).all()
    assert means[0] == pytest.approx(p @ v, abs=1e-6)
    assert means[-1] == means[-2] == pytest.approx(3.0)
    # For small ε it is the Gaussian approximation: mean + √(2ε·variance).
    var = p @ v**2 - (p @ v) ** 2
    assert means[2] - p @ v == pytest.approx(np.sqrt(2e-4 * var), rel=0.03)


def test_kl_is_the_tighter_ball() -> None:
    # Pinsker: KL ≤ ε implies L1 ≤ √(2ε).
    rng = np.random.default_rng(0)
    p, v = rng.dirichlet(np.ones(4), size=50), rng.random((50, 4))
    eps = rng.uniform(0.001, 1.0, size=50)
    kl, l1 = kl_ball.largest_mean(p, v, 1.0, eps), l1_ball.largest_mean(p, v, 1.0, np.sqrt(2 * eps))
    assert (kl <= l1 + 1e-9).all()
    assert (kl < l1 - 1e-3).any()
