"""Agents with known features of a finite MDP: tables that fit, and the bonus of learned rewards."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines.matrix_rl import MatrixRL
from cmerl.envs import FiniteMDP, LinearQuadratic, RandomMDP
from cmerl.errors import InputError


def test_tables_that_do_not_fit_are_refused() -> None:
    env = RandomMDP(4, 2, seed=1)
    with pytest.raises(InputError, match=r"phi must be a finite array of shape \(4, 2, any\)"):
        MatrixRL(env, phi=np.ones((4, 3, 2)))
    with pytest.raises(InputError, match="full column rank"):
        MatrixRL(env, psi=np.ones((4, 2)))


def test_learned_rewards_have_a_bonus_that_falls_with_visits() -> None:
    # One step is left: Q = r̂ + ½w/√N + w/√(N + λ), the bonus of the reward and that of one-hot features.
    env = FiniteMDP(np.full((2, 2, 2), 0.5), np.array([[0.3, 0.4], [0.1, 0.2]]), horizon=1)
    agent = MatrixRL(env, lam=0.5, width=0.2, seed=0).learn(20)
    N = agent.counts.sum(axis=2)
    assert N.sum() == 20
    by_hand = env.R + 0.1 / np.sqrt(np.maximum(N, 1)) + 0.2 / np.sqrt(N + 0.5)
    for s in range(2):
        np.testing.assert_allclose(agent.q_values(s), np.where(N[s] > 0, by_hand[s], 1.0), atol=1e-12)
        np.testing.assert_allclose(agent.q_values(s, explore=False), np.where(N[s] > 0, env.R[s], 0.0), atol=1e-12)


def test_what_is_not_discrete_is_refused() -> None:
    with pytest.raises(InputError, match="needs Discrete spaces"):
        MatrixRL(LinearQuadratic())


def test_tables_are_saved_with_the_agent(tmp_path) -> None:
    phi = np.random.default_rng(0).normal(size=(4, 2, 3))
    agent = MatrixRL(RandomMDP(4, 2, seed=1, horizon=3), phi=phi).learn(3)
    agent.save(tmp_path / "agent")
    np.testing.assert_array_equal(MatrixRL.load(tmp_path / "agent").phi, phi)
