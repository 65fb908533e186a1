"""MatrixRL recovers counts from one-hot features, and the core from enough data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.matrix_rl import MatrixRL, matrix_rl_radius
from cmerl.envs import Bilinear, RandomMDP


def test_with_one_hot_features_it_recovers_the_counts() -> None:
    agent = MatrixRL(RandomMDP(4, 2, seed=1, horizon=5), lam=0.5).learn(20)
    N = agent.counts.sum(axis=2)
    law = (agent.phi.reshape(8, -1) @ agent.core() @ agent.psi.T).reshape(4, 2, 4)
    np.testing.assert_allclose(law, agent.counts[:, :, :4] / (N + 0.5)[..., None], atol=1e-12)
    assert N.sum() == 100


def test_dense_features_are_solved_like_one_hot_ones() -> None:
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]  # a rotation of one-hot features changes nothing
    env = RandomMDP(4, 2, seed=1, horizon=5)
    plain, turned = MatrixRL(env, seed=2), MatrixRL(env, seed=2, phi=turn.reshape(4, 2, 8))
    assert not turned.one_hot
    plain.learn(10)
    turned.learn(10)
    for s in range(4):
        np.testing.assert_allclose(turned.q_values(s, 1), plain.q_values(s, 1), atol=1e-9)


def test_it_learns_the_core_of_a_bilinear_world() -> None:
    env = Bilinear(horizon=8)
    agent = MatrixRL(env, seed=0)
    assert agent.phi.shape == env.phi.shape  # the environment tells its features
    rng = np.random.default_rng(0)
    n = 40_000
    s, a = rng.integers(12, size=n), rng.integers(2, size=n)
    after = (rng.random((n, 1)) > np.cumsum(env.P[s, a], axis=1)).sum(axis=1)
    np.add.at(agent.counts, (s, a, after), 1.0)
    agent.A += np.einsum("nd,ne->de", env.phi[s, a], env.phi[s, a])
    np.testing.assert_allclose(agent.core(), env.core, atol=0.06)
    learned = MatrixRL(env, seed=0).learn(60)
    assert sum(r.regret for r in learned.history[-10:]) < 0.3 * sum(r.regret for r in learned.history[:10])


def test_the_radius_by_hand() -> None:
    assert matrix_rl_radius(3, horizon=4, episodes=6) == pytest.approx(24 * math.sqrt(math.log(25)))


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-4])
@pytest.mark.parametrize("horizon", [1, 20, 200])
def test_with_one_hot_features_the_radius_is_enough(horizon: int, delta: float) -> None:
    """As for KOVI with delta kernels: what means of values in [0, H] are short of at all pairs, steps, counts."""
    for t in (1, 2, 3, 10, 1000, 10**6):
        N = np.unique(np.linspace(0, (t - 1) * horizon, 200).astype(int))
        for pairs in (2, 10, 10**4):
            L = math.log(pairs * horizon * t * horizon / delta)
            short = np.minimum(horizon, horizon * (1.0 + np.sqrt(N * L / 2.0)) / (N + 1.0))
            radius = matrix_rl_radius(pairs, horizon=horizon, episodes=t)
            assert (radius / np.sqrt(N + 1.0) >= short).all()
