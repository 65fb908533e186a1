"""Optimistic Q-learning against a loop that follows the paper's listing line by line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cmerl
from cmerl.agents.baselines.q_learning import OptimisticQLearning
from cmerl.errors import InputError

S, A, H, K, DELTA = 3, 2, 4, 40, 0.2
IOTA = float(np.log(S * A * K * H / DELTA))


def by_hand(lessons: list[dict[str, Any]], bonus: str, *, theory: bool, scale: float) -> tuple[Any, Any]:
    """[Jin et al. 2018, Alg. 1 and 2] on episodes that were played, with clips at what is left."""
    Q, N = {}, {}
    mu, squares, beta = {}, {}, {}
    for h in range(H):
        for s in range(S):
            for a in range(A):
                Q[h, s, a], N[h, s, a] = float(H - h), 0
                mu[h, s, a] = squares[h, s, a] = beta[h, s, a] = 0.0

    def V(h: int, s: int) -> float:
        return 0.0 if h == H else min(max(Q[h, s, a] for a in range(A)), H - h)

    for lesson in lessons:
        for h in range(H):
            x, a, r = lesson["observations"][h], lesson["actions"][h], lesson["rewards"][h]
            y = lesson["observations"][h + 1]
            z = h, x, a
            N[z] += 1
            t = N[z]
            alpha = (H + 1) / (H + t)
            v = V(h + 1, y)
            b = (H**3 * IOTA / t) ** 0.5 if theory else (H - h) / t**0.5
            if bonus == "bernstein":
                mu[z] += v
                squares[z] += v**2
                W = squares[z] / t - (mu[z] / t) ** 2
                other = (
                    (H / t * (W + H) * IOTA) ** 0.5 + (H**7 * S * A) ** 0.5 * IOTA / t
                    if theory
                    else (max(W, 0.0) / t) ** 0.5 + (H - h) / t
                )
                new = min(other, b)
                b = (new - (1 - alpha) * beta[z]) / (2 * alpha)
                beta[z] = new
            Q[z] = (1 - alpha) * Q[z] + alpha * (r + v + scale * b)
    return Q, N


@pytest.mark.parametrize("bonus", ["hoeffding", "bernstein"])
@pytest.mark.parametrize("theory", [True, False])
def test_updates_against_the_listing(bonus: Any, theory: bool) -> None:
    lessons: list[dict[str, Any]] = []
    env = cmerl.envs.random_mdp(S, A, seed=6, horizon=H)
    scale = 0.05
    agent = OptimisticQLearning(env, bonus=bonus, theory=theory, bonus_scale=scale, episodes=K, delta=DELTA, seed=2)
    agent.learn(K, callback=lambda agent, record: lessons.append(agent.lesson()))
    Q, N = by_hand(lessons, bonus, theory=theory, scale=scale)
    for z, value in Q.items():
        assert agent.Q[z] == pytest.approx(value, abs=1e-7)
        assert agent.step_visits[z] == N[z]


def test_the_rates_of_the_first_and_second_update() -> None:
    # One state and one action that pays 0.25, H = 1: α₁ = 1 and α₂ = 2/3, no next value.
    env = cmerl.envs.FiniteMDP(np.ones((1, 1, 1)), np.array([[0.25]]))
    agent = OptimisticQLearning(env, horizon=1, bonus_scale=0.3)
    agent.learn(1)
    assert agent.Q[0, 0, 0] == pytest.approx(0.25 + 0.3)
    agent.learn(1)
    assert agent.Q[0, 0, 0] == pytest.approx(0.55 / 3 + 2 / 3 * (0.25 + 0.3 / 2**0.5))
    assert agent.q_values(0, explore=False)[0] == pytest.approx(0.25)


@pytest.mark.parametrize("horizon", [1, 5, 50])
def test_the_bonuses_of_all_updates_together_are_enough(horizon: int) -> None:
    """With the constant 1 that the paper leaves open: Σ αᵢbᵢ ≥ H√(ι·Σ αᵢ²/2) [Hoeffding, weighted by the rates].

    At the last step of episodes that pay nothing Q is the sum of the bonuses alone.
    """
    env = cmerl.envs.FiniteMDP(np.ones((1, 1, 1)), np.zeros((1, 1)))
    agent = OptimisticQLearning(env, horizon=horizon, theory=True)
    weights: list[float] = []  # αᵢ of every update so far
    for t in range(1, 400):
        agent.learn_step(horizon - 1, 0, 0, 0.0, 0)
        rate = (horizon + 1) / (horizon + t)
        weights = [(1 - rate) * weight for weight in weights] + [rate]
        spread = horizon * np.sqrt(agent.log_factor() * np.sum(np.square(weights)) / 2)
        assert agent.Q[horizon - 1, 0, 0] >= spread


def test_without_bonus_it_finds_the_optimal_policy() -> None:
    from cmerl import oracles

    env = cmerl.envs.random_mdp(S, A, seed=6, horizon=3)
    agent = OptimisticQLearning(env, seed=0).learn(1500)
    best = oracles.solve(env, 3)
    value = oracles.evaluate(env, agent.policy(explore=False), 3).V[0]
    assert best.V[0, 0] - value[0] < 0.1
    assert np.mean([r.regret for r in agent.history[-100:]]) < np.mean([r.regret for r in agent.history[:100]])


def test_an_unknown_bonus_is_refused() -> None:
    with pytest.raises(InputError, match="bonus must be one of hoeffding, bernstein"):
        OptimisticQLearning(cmerl.envs.random_mdp(S, A, seed=6), bonus="freedman")  # type: ignore[arg-type]
