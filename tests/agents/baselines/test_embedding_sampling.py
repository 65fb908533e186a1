"""Sampled embeddings: draws of transitions."""

from __future__ import annotations

import numpy as np

from cmerl.agents.baselines.embedding_sampling import EmbeddingSampling
from cmerl.envs import FiniteMDP


def drawn_q(kind, env, episodes: int, draws: int, step: int, **options) -> tuple[np.ndarray, object]:
    """Q (draws, S, A) of many draws after some episodes."""
    agent = kind(env, **options).learn(episodes)
    record, found = agent.history[-1], []
    states = np.arange(len(env.R), dtype=np.float64)[:, None]
    for _ in range(draws):
        found.append(agent.policy().q(states, step))
        agent.history.append(record)  # the next episode, with the same data
    return np.array(found), agent


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
