"""UCRL-VTR: its estimate by brute force, and the mixture found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.ucrl_vtr import UCRLVTR
from cmerl.envs import GridWorld, LinearMixture, RandomMDP
from cmerl.errors import InputError
from cmerl.linalg import Cholesky


def test_the_estimate_by_brute_force() -> None:
    env = LinearMixture(5, 2, seed=3, horizon=4)
    agent, rows, targets = UCRLVTR(env, seed=1, lam=0.7), [], []
    for _ in range(8):
        values = [[float(agent.q_values(s, h).max()) for s in range(5)] for h in range(4)] + [[0.0] * 5]
        agent.learn(1)
        e = agent.log[-1]
        for h in range(4):
            s, a, t = int(e.states[h, 0]), int(e.actions[h, 0]), int(e.next_states[h, 0])
            rows.append([sum(env.basis[j, s, a, u] * values[h + 1][u] for u in range(5)) for j in range(3)])
            targets.append(values[h + 1][t])
    X, y = np.array(rows), np.array(targets)
    best = np.linalg.lstsq(np.vstack([X, math.sqrt(0.7) * np.eye(3)]), np.append(y, np.zeros(3)), rcond=None)[0]
    np.testing.assert_allclose(agent.theta, best, atol=1e-9)
    np.testing.assert_allclose(agent.M, X.T @ X + 0.7 * np.eye(3), atol=1e-9)


def test_it_finds_the_mixture() -> None:
    env = LinearMixture(horizon=10)
    agent = UCRLVTR(env, seed=0).learn(150)
    assert np.abs(agent.theta - env.theta).max() < 0.15
    assert sum(r.regret for r in agent.history[-20:]) < 0.2 * sum(r.regret for r in agent.history[:20])


def test_the_radius_by_hand() -> None:
    agent = UCRLVTR(LinearMixture(), theory=True, norm=0.9, lam=2.0, delta=0.05, bonus_scale=0.5)
    factor = Cholesky.of(np.diag([2.0, 4.0, 8.0]))
    want = math.sqrt(2) * 0.9 + 5 * math.sqrt(2 * math.log(20) + math.log(8))
    assert agent.radius(factor) == pytest.approx(0.5 * want)


def test_too_many_laws_are_refused() -> None:
    with pytest.raises(InputError, match="would mix 2116 laws"):
        UCRLVTR(GridWorld())
    with pytest.raises(InputError, match="basis must be a finite array"):
        UCRLVTR(RandomMDP(4, 2, seed=0), basis=np.ones((2, 3, 2, 4)))
