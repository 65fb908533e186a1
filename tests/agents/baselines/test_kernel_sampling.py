"""Kernel RLSVI and posterior sampling on the embedding: laws of what they draw, and that they learn."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines.embedding_sampling import EmbeddingSampling
from cmerl.agents.baselines.kernel_rlsvi import KernelRLSVI
from cmerl.envs import FiniteMDP, RiverSwim


def drawn_q(kind, env, episodes: int, draws: int, step: int, **options) -> tuple[np.ndarray, object]:
    """Q (draws, S, A) of many draws after some episodes."""
    agent = kind(env, **options).learn(episodes)
    record, found = agent.history[-1], []
    states = np.arange(len(env.R), dtype=np.float64)[:, None]
    for _ in range(draws):
        found.append(agent.policy().q(states, step))
        agent.history.append(record)  # the next episode, with the same data
    return np.array(found), agent


def test_rlsvi_at_the_last_step_is_the_gaussian_posterior() -> None:
    # One step is left: Q = N/(N + λ)·mean reward, variance s²/(N + λ). A wide range keeps the clip away.
    env = FiniteMDP(np.full((2, 2, 2), 0.5), np.array([[0.5, 0.4], [0.6, 0.5]]), horizon=3)
    q, agent = drawn_q(KernelRLSVI, env, 30, 1500, 2, lam=1.0, width=0.3)
    N = np.zeros((2, 2))
    for e in agent.log:
        np.add.at(N, (e.states[:, 0].astype(int), e.actions[:, 0].astype(int)), 1.0)
    seen = N > 10
    assert seen.sum() >= 2
    np.testing.assert_allclose(q.mean(axis=0)[seen], (N / (N + 1) * env.R)[seen], atol=0.01)
    np.testing.assert_allclose(q.std(axis=0)[seen], (0.3 / np.sqrt(N + 1))[seen], rtol=0.1)


def test_sampling_the_embedding_spreads_like_the_values_of_next_states() -> None:
    # Two steps left, rewards known well: what varies is P̃V, by s·sd(V over states)/√(N + λ) around its mean.
    env = FiniteMDP(np.full((3, 1, 3), 1 / 3), np.array([[0.2], [0.5], [0.8]]), horizon=2)
    q, agent = drawn_q(EmbeddingSampling, env, 400, 1500, 0, lam=1e-3)
    N = np.zeros(3)
    for e in agent.log:
        np.add.at(N, e.states[:, 0].astype(int), 1.0)
    # Q(s) = r̃(s) + P̃Ṽ(s) with Ṽ = r̃ and P̂ ≈ 1/3: the rewards drawn come in twice, their own and by their mean.
    reward, later = (0.5 * 0.3) ** 2 / N, (0.3 * np.std([0.2, 0.5, 0.8])) ** 2 / N
    np.testing.assert_allclose(q.var(axis=0)[:, 0], (5 / 3) * reward + reward.sum() / 9 + later, rtol=0.15)
    np.testing.assert_allclose(q.mean(axis=0)[:, 0], env.R[:, 0] + 0.5, atol=0.06)


@pytest.mark.parametrize("kind", [KernelRLSVI, EmbeddingSampling])
def test_they_swim(kind) -> None:
    agent = kind(RiverSwim(), seed=0, bonus_scale=0.5).learn(150)
    assert sum(record.regret for record in agent.history[-30:]) < 30  # 102 if it never did


@pytest.mark.parametrize("kind", [KernelRLSVI, EmbeddingSampling])
def test_a_draw_is_the_episodes_own(kind) -> None:
    agent = kind(RiverSwim(), seed=0).learn(3)
    assert agent.policy() is agent.policy()
    same = agent.q_values(3, 0)
    np.testing.assert_array_equal(kind(RiverSwim(), seed=0).learn(3).q_values(3, 0), same)
    agent.history.append(agent.history[-1])
    assert not np.array_equal(agent.q_values(3, 0), same)
