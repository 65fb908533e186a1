"""UCBVI: optimism with the bonuses of the counts, by hand."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.agents.baselines.ucbvi import UCBVI, UCBVIBF, UCBVICH, next_value_doubt

H, S, A, DELTA, K = 4, 3, 2, 0.2, 50
L = float(np.log(5 * S * A * K * H / DELTA))


def played(cls: Any, **options: Any) -> Any:
    env = cmerl.envs.random_mdp(S, A, seed=2, horizon=H)
    if cls is not UCBVI:
        options = {"delta": DELTA, "episodes": K, **options}
    return cls(env, seed=3, **options).learn(5)


def by_hand(agent: Any, bonus: Any) -> np.ndarray:
    """Optimistic Q by loops over single state-actions, from the episodes' counts alone."""
    Q, V = np.zeros((H, S, A)), np.zeros((H + 1, S))
    for h in reversed(range(H)):
        for s in range(S):
            for a in range(A):
                n = agent.counts[s, a].sum()
                if n == 0:
                    Q[h, s, a] = H - h
                    continue
                p = agent.counts[s, a] / n
                mean = sum(p[y] * V[h + 1, y] for y in range(S))
                var = sum(p[y] * (V[h + 1, y] - mean) ** 2 for y in range(S))
                Q[h, s, a] = min(agent.reward_sums[s, a] / n + mean + bonus(h, s, a, n, p, var), H - h)
            V[h, s] = max(Q[h, s])
    return Q


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0])
def test_the_heuristic_bonus(scale: float) -> None:
    agent = played(UCBVI, bonus_scale=scale)
    expected = by_hand(agent, lambda h, s, a, n, p, var: scale * (n**-0.5 + (H - h) / n))
    np.testing.assert_allclose(agent.policy().Q, expected, atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 0.7])
def test_the_practical_bonuses_of_the_paper(scale: float) -> None:
    agent = played(UCBVICH, bonus_scale=scale)
    expected = by_hand(agent, lambda h, s, a, n, p, var: scale * (H - h) * n**-0.5)
    np.testing.assert_allclose(agent.policy().Q, expected, atol=1e-12)
    agent = played(UCBVIBF, bonus_scale=scale)

    # Rewards are certain in this world: they have no variance.
    expected = by_hand(agent, lambda h, s, a, n, p, var: scale * ((var / n) ** 0.5 + (H - h) / n))
    np.testing.assert_allclose(agent.policy().Q, expected, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_hoeffding_by_hand_with_the_papers_constants(scale: float) -> None:
    agent = played(UCBVICH, theory=True, bonus_scale=scale)
    agent.lowest[:] = H  # forget earlier bounds, which the next test is about
    expected = by_hand(agent, lambda h, s, a, n, p, var: scale * (7 * H * L * n**-0.5 + (L / (2 * n)) ** 0.5))
    np.testing.assert_allclose(agent.policy().Q, expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_bernstein_by_hand_with_the_papers_constants(scale: float) -> None:
    agent = played(UCBVIBF, theory=True, bonus_scale=scale)
    agent.lowest[:] = H
    at = np.zeros((H + 1, S))  # visits of states at each step, from the tables of the agent's own episodes
    at[:] = agent.step_visits

    def bonus(h: int, s: int, a: int, n: float, p: np.ndarray, var: float) -> float:
        doubt = 0.0
        for y in range(S):
            bound = H**2 if at[h + 1, y] == 0 else min(100**2 * H**3 * S**2 * A * L**2 / at[h + 1, y], H**2)
            doubt += p[y] * bound
        first, second = (8 * L * var / n) ** 0.5, 14 * H * L / (3 * n)
        return scale * (first + second + (8 * doubt / n) ** 0.5 + (L / (2 * n)) ** 0.5)

    np.testing.assert_allclose(agent.policy().Q, by_hand(agent, bonus), atol=1e-9)


def test_doubt_about_next_values_falls_with_visits_from_h_squared_on() -> None:
    doubt = next_value_doubt(np.array([0.0, 1.0, 1e12]), horizon=4, S=3, A=2, L=10.0)
    np.testing.assert_allclose(doubt, [16.0, 16.0, 10_000 * 64 * 9 * 2 * 100 / 1e12])


def test_visits_are_counted_by_step() -> None:
    seen: list[dict[str, Any]] = []
    agent = UCBVIBF(cmerl.envs.random_mdp(S, A, seed=2, horizon=H), seed=3)
    agent.learn(6, callback=lambda agent, record: seen.append(agent.lesson()))
    expected = np.zeros((H + 1, S))
    for lesson in seen:
        for step, obs in enumerate(lesson["observations"]):
            expected[step, obs] += 1
    np.testing.assert_array_equal(agent.step_visits, expected)


@pytest.mark.parametrize("cls", [UCBVICH, UCBVIBF])
def test_with_the_papers_constants_no_q_ever_rises(cls: Any) -> None:
    env = cmerl.envs.random_mdp(S, A, seed=2, horizon=H)
    for theory in (True, False):
        agent = cls(env, theory=theory, bonus_scale=0.02, seed=1)
        rises, last = 0, agent.policy().Q
        for _ in range(20):
            now = agent.learn(1).policy().Q
            rises += int((now > last + 1e-12).any())
            last = now
        assert (rises == 0) == theory


def test_random_rewards_have_a_variance() -> None:
    env = gymnasium.make("FrozenLake-v1")
    agent = UCBVIBF(env, bonus_scale=1.0, seed=0).learn(1)
    s, a = 3, 1
    agent.counts[s, a], agent.counts[s, a, 0] = 0, 4
    agent.reward_sums[s, a] = agent.reward_squares[s, a] = 1  # one reward of 1, three of 0
    assert agent.policy().Q[-1, s, a] == pytest.approx(0.25 + (0.25 * 0.75 / 4) ** 0.5 + 1 / 4)


def test_one_state_by_hand() -> None:
    # One state, three steps; action 0 pays 0.5 and was seen 100 times, action 1 pays nothing and was seen 4 times.
    env = cmerl.envs.FiniteMDP(np.ones((1, 2, 1)), np.array([[0.5, 0.0]]))
    plans = {}
    for scale in (0.1, 0.6):
        agent = UCBVI(env, horizon=3, bonus_scale=scale)
        agent.counts[0, :, 0] = [100, 4]
        agent.reward_sums[0] = [50, 0]
        plans[scale] = agent.policy().actions[:, 0].tolist()
    # Bonuses of scale 1, with 3, 2 and 1 steps left: 0.13, 0.12, 0.11 and 1.25, 1.0, 0.75. At scale 0.6 action 1 is
    # the better one by 0.75 − 0.578 and 0.6 − 0.572, and by 0.45 − 0.566 it is not.
    assert plans == {0.1: [0, 0, 0], 0.6: [1, 1, 0]}


def test_the_best_is_believed_of_what_was_not_seen() -> None:
    agent = UCBVI(gymnasium.make("cmerl/RiverSwim-v0"), bonus_scale=0.0)
    agent.counts[0, 0, 0], agent.reward_sums[0, 0] = 5, 2  # left at the start pays something; right was never tried
    assert agent.predict(0) == 1
    assert agent.predict(0, explore=False) == 0


def test_regret_on_riverswim_is_about_as_known() -> None:
    env = gymnasium.make("cmerl/RiverSwim-v0")
    regrets = [sum(r.regret for r in UCBVI(env, bonus_scale=0.1, seed=seed).learn(1000).history) for seed in (0, 1)]
    assert 12 < np.mean(regrets) < 60
