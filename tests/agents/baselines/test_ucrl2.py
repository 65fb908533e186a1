"""UCRL2 and KL-UCRL: optimism over balls of laws, against linear programs and brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import cmerl
from cmerl.agents.baselines import kl_ball, l1_ball
from cmerl.agents.baselines.kl_ucrl import KLUCRL
from cmerl.agents.baselines.ucrl2 import UCRL2


def by_linear_program(p: np.ndarray, v: np.ndarray, radius: float) -> float:
    """max q·v over laws q with ‖q − p‖₁ ≤ radius; variables q and slacks u ≥ |q − p|."""
    K = len(p)
    eye = np.eye(K)
    found = linprog(
        np.concatenate([-v, np.zeros(K)]),
        A_ub=np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, K)), np.ones((1, K))]]),
        b_ub=np.concatenate([p, -p, [radius]]),
        A_eq=np.concatenate([np.ones(K), np.zeros(K)])[None],
        b_eq=[1.0],
    )
    assert found.success
    return -float(found.fun)


@pytest.mark.parametrize("seed", range(8))
def test_the_l1_ball_against_a_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, v = rng.dirichlet(np.full(5, 0.4)), rng.normal(size=5)
    if seed % 2:
        p[int(v.argmax())] = 0.0  # the best state was never seen
        p /= p.sum()
    for radius in (0.0, 0.1, 0.7, 1.9, 5.0):
        # The agent gives the seen atoms in any order, and the best value of all.
        seen = np.flatnonzero(p)
        mine = l1_ball.largest_mean(p[seen], v[seen], float(v.max()), np.array(radius))
        assert mine == pytest.approx(by_linear_program(p, v, radius), abs=1e-8)


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


@pytest.mark.parametrize("theory", [True, False])
def test_extended_value_iteration_against_linear_programs(theory: bool) -> None:
    S, A, H = 4, 2, 3
    agent = UCRL2(cmerl.envs.random_mdp(S, A, seed=4, horizon=H), theory=theory, bonus_scale=0.1, seed=1).learn(8)
    n = agent.visits
    t = n.sum()
    if theory:
        laws = 0.1 * np.sqrt(14 * S * np.log(2 * A * t / 0.1) / np.maximum(n, 1))
        rewards = 0.1 * np.sqrt(7 * np.log(2 * S * A * t / 0.1) / (2 * np.maximum(n, 1)))
    else:
        laws, rewards = 0.1 * np.sqrt(S / np.maximum(n, 1)), 0.1 / np.sqrt(np.maximum(n, 1))
    Q, V = np.zeros((H, S, A)), np.zeros(S)
    for h in reversed(range(H)):
        for s in range(S):
            for a in range(A):
                if n[s, a] == 0:
                    Q[h, s, a] = 1 + V.max()
                    continue
                reward = min(agent.reward_sums[s, a] / n[s, a] + rewards[s, a], 1.0)
                Q[h, s, a] = reward + by_linear_program(agent.counts[s, a] / n[s, a], V, float(laws[s, a]))
        V = Q[h].max(axis=1)
    np.testing.assert_allclose(agent.policy().Q, Q, atol=1e-7)


@pytest.mark.parametrize("cls", [UCRL2, KLUCRL])
def test_the_scale_multiplies_every_radius(cls: Any) -> None:
    env = cmerl.envs.random_mdp(4, 2, seed=4, horizon=3)
    n = np.array([[1.0, 5.0]])
    for theory in (True, False):
        once, thrice = (cls(env, theory=theory, bonus_scale=scale).radii(n) for scale in (1.0, 3.0))
        for a, b in zip(once, thrice, strict=True):
            np.testing.assert_allclose(3 * a, b)
        zero = cls(env, theory=theory, bonus_scale=0.0).learn(6)
        seen = zero.visits > 0
        P = zero.counts / np.maximum(zero.visits, 1)[..., None]
        last = zero.policy().Q[-1]
        np.testing.assert_allclose(last[seen], (zero.reward_sums / np.maximum(zero.visits, 1))[seen], atol=1e-9)
        V = last.max(axis=1)
        np.testing.assert_allclose(zero.policy().Q[-2][seen], (last + P @ V)[seen], atol=1e-5)


def test_kl_is_the_tighter_ball() -> None:
    # Pinsker: KL ≤ ε implies L1 ≤ √(2ε).
    rng = np.random.default_rng(0)
    p, v = rng.dirichlet(np.ones(4), size=50), rng.random((50, 4))
    eps = rng.uniform(0.001, 1.0, size=50)
    kl, l1 = kl_ball.largest_mean(p, v, 1.0, eps), l1_ball.largest_mean(p, v, 1.0, np.sqrt(2 * eps))
    assert (kl <= l1 + 1e-9).all()
    assert (kl < l1 - 1e-3).any()
