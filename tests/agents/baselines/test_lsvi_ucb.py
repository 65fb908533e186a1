"""LSVI-UCB: equal to its tabular form, and to the triple loop of its paper."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest

from cmerl.agents.baselines.lsvi_ucb import LSVIUCB, lsvi_radius
from cmerl.envs import FiniteMDP, RandomMDP, RiverSwim
from cmerl.errors import InputError


def tabular_q(agent: LSVIUCB, states: int, actions: int) -> np.ndarray:
    """Q (H, S, A) from counts of each step alone."""
    H, lam = agent.horizon, agent.lam
    N, R = np.zeros((H, states, actions)), np.zeros((H, states, actions))
    C = np.zeros((H, states, actions, states))
    for data in agent.log:
        for h in range(len(data)):
            s, a, t = int(data.states[h, 0]), int(data.actions[h, 0]), int(data.next_states[h, 0])
            for g in range(H) if agent.time_homogeneous else [h]:
                N[g, s, a] += 1
                R[g, s, a] += data.rewards[h]
                C[g, s, a, t] += 1
    Q, V = np.zeros((H, states, actions)), np.zeros(states)
    for h in reversed(range(H)):
        beta = agent.width * (H - h)
        if agent.theory:
            d = states * actions
            beta = d * H * math.sqrt(math.log(2 * d * (len(agent.log) + 1) * H / agent.delta))
        Q[h] = np.clip((R[h] + C[h] @ V) / (N[h] + lam) + beta / np.sqrt(N[h] + lam), 0, H - h)
        V = Q[h].max(axis=1)
    return Q


def all_q(agent: LSVIUCB, states: int) -> np.ndarray:
    return np.array([[agent.q_values(s, h) for s in range(states)] for h in range(agent.horizon)])


@pytest.mark.parametrize("features", ["one-hot", "dense"])
@pytest.mark.parametrize("theory", [False, True])
def test_with_one_hot_features_it_is_its_tabular_form(features: str, theory: bool) -> None:
    env = RandomMDP(4, 3, seed=1, horizon=5)
    phi = "one-hot" if features == "one-hot" else lambda s, a: np.eye(12)[3 * s + a]
    agent = LSVIUCB(env, features=phi, theory=theory, seed=0).learn(25)
    np.testing.assert_allclose(all_q(agent, 4), tabular_q(agent, 4, 3), atol=1e-10)


def test_with_any_features_it_is_the_loop_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((4, 3, 5)) / 3
    agent = LSVIUCB(
        RandomMDP(4, 3, seed=1, horizon=4), features=lambda s, a: table[s, a], time_homogeneous=False, lam=0.5
    ).learn(12)
    H, w = 4, {}
    precision = {}
    for h in reversed(range(H)):
        L, b = 0.5 * np.eye(5), np.zeros(5)
        for data in agent.log:
            s, a, t = int(data.states[h, 0]), int(data.actions[h, 0]), int(data.next_states[h, 0])
            best = 0.0
            if h + 1 < H:
                values = [
                    table[t, b2] @ w[h + 1]
                    + 0.1 * (H - h - 1) * math.sqrt(table[t, b2] @ np.linalg.inv(precision[h + 1]) @ table[t, b2])
                    for b2 in range(3)
                ]
                best = min(max(max(values), 0.0), H - h - 1)
            L += np.outer(table[s, a], table[s, a])
            b += table[s, a] * (data.rewards[h] + best)
        w[h], precision[h] = np.linalg.solve(L, b), L
        for s in range(4):
            q = table[s] @ w[h]
            q += 0.1 * (H - h) * np.sqrt(np.einsum("ad,de,ae->a", table[s], np.linalg.inv(L), table[s]))
            np.testing.assert_allclose(agent.q_values(s, h), np.clip(q, 0, H - h), atol=1e-9)


def test_it_swims() -> None:
    agent = LSVIUCB(RiverSwim(), seed=0).learn(150)
    assert sum(record.regret for record in agent.history) < 40  # 510 if it never did
    assert sum(record.regret for record in agent.history[-20:]) < 3


def test_every_term_of_the_bonus_has_the_scale() -> None:
    env = FiniteMDP(np.ones((1, 2, 1)), np.array([[0.1, 0.2]]), horizon=1)
    for theory in (False, True):
        one, half = (LSVIUCB(env, theory=theory, bonus_scale=scale, lam=1e6) for scale in (1.0, 0.5))
        np.testing.assert_allclose(one.q_values(0), 2 * half.q_values(0), rtol=1e-12)


def test_the_radius_by_hand() -> None:
    assert lsvi_radius(3, horizon=5, steps=10, delta=0.1) == pytest.approx(15 * math.sqrt(math.log(600)))


def test_features_that_make_no_sense_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="needs features"):
        LSVIUCB(gymnasium.make("cmerl/PBall2D-v0"))
    with pytest.raises(InputError, match="NaN or infinite"):
        LSVIUCB(RiverSwim(), features=lambda s, a: [np.nan])
    agent = LSVIUCB(RiverSwim(), features=lambda s, a: [1.0, s, a]).learn(1)
    agent.save(tmp_path / "agent")
    with pytest.raises(InputError, match="pass features="):
        LSVIUCB.load(tmp_path / "agent")
    loaded = LSVIUCB.load(tmp_path / "agent", features=lambda s, a: [1.0, s, a])
    np.testing.assert_array_equal(loaded.q_values(2), agent.q_values(2))
