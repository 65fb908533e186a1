"""KL-UCRL with two states: its Q by bisection of Bernoulli's divergence, its radii by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cmerl
from cmerl.agents.baselines.kl_ucrl import KLUCRL
from cmerl.envs import FiniteMDP


def largest_share(p: float, eps: float) -> float:
    """The largest q with kl(p, q) ≤ ε."""
    low, high = p, 1.0
    for _ in range(100):
        q = (low + high) / 2
        kl = (p * math.log(p / q) if p else 0.0) + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)
        low, high = (q, high) if kl < eps else (low, q)
    return low


def test_extended_value_iteration_by_bisection() -> None:
    H = 3
    P = np.array([[[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.5, 0.5]]])
    env = FiniteMDP(P, np.array([[0.1, 0.3], [0.4, 0.2]]), horizon=H, start=np.array([0.5, 0.5]))
    agent = KLUCRL(env, bonus_scale=0.2, seed=1).learn(20)
    n, V = agent.visits, np.zeros(2)
    assert n.min() > 0
    for h in reversed(range(H)):
        Q, best = np.zeros((2, 2)), int(V.argmax())
        for s, a in np.ndindex(2, 2):
            q = largest_share(agent.counts[s, a, best] / n[s, a], 0.2 / n[s, a])
            reward = min(agent.reward_sums[s, a] / n[s, a] + 0.2 / math.sqrt(n[s, a]), 1.0)
            Q[s, a] = reward + q * V[best] + (1 - q) * V[1 - best]
        np.testing.assert_allclose(agent.policy().Q[h], Q, atol=1e-7)
        V = Q.max(axis=1)
        assert np.ptp(V) > 0.01  # so that it matters where a step leads


def test_the_radii_of_the_paper_by_hand() -> None:
    agent = KLUCRL(cmerl.envs.random_mdp(2, 2, seed=4, horizon=3), theory=True, episodes=100, delta=0.1)
    laws, rewards = agent.radii(np.array([[1.0, 4.0]]))
    log_T = math.log(300)
    B = math.log(2 * math.e * 8 * log_T / 0.1)
    C_P = 2 * (B + math.log(B + 1 / log_T) * (1 + 1 / (B + 1 / log_T)))
    C_R = math.sqrt(math.log(16 * log_T / 0.1) / 1.99)
    assert laws[0] == pytest.approx([C_P, C_P / 4])
    assert rewards[0] == pytest.approx([C_R, C_R / 2])
