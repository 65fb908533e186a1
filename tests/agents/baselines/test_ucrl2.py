"""UCRL2 and KL-UCRL: optimism over balls of laws, against linear programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cmerl
from cmerl.agents.baselines.kl_ucrl import KLUCRL
from cmerl.agents.baselines.ucrl2 import UCRL2


@pytest.mark.parametrize("theory", [True, False])
def test_extended_value_iteration_against_linear_programs(theory: bool, by_linear_program: Any) -> None:
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
