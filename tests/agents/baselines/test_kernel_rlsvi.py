"""Kernel RLSVI: draws of value functions."""

from __future__ import annotations

import numpy as np

from cmerl.agents.baselines.kernel_rlsvi import KernelRLSVI
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
