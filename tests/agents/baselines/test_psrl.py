"""Posterior sampling: its draws against the moments of the posterior, its limits against dynamic programming."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl import oracles
from cmerl.agents.baselines.psrl import PSRL
from cmerl.errors import InputError

RIVER = "cmerl/RiverSwim-v0"


def make(**options: Any) -> PSRL:
    return PSRL(gymnasium.make(RIVER), **options)


def draws(agent: PSRL, number: int) -> tuple[np.ndarray, np.ndarray]:
    rngs = [np.random.default_rng(seed) for seed in range(number)]
    return np.array([agent.draw_transitions(rng) for rng in rngs]), np.array(
        [agent.draw_rewards(rng) for rng in rngs]
    )


def test_laws_are_drawn_from_a_dirichlet_posterior_and_rewards_from_a_beta_one() -> None:
    agent = make(prior_weight=3.0).learn(30)
    P, R = draws(agent, 1500)
    weight = agent.counts + 3.0 / 6
    total = weight.sum(axis=2, keepdims=True)
    mean = weight / total
    np.testing.assert_allclose(P.sum(axis=3), 1.0)
    np.testing.assert_allclose(P.mean(axis=0), mean, atol=0.05)
    np.testing.assert_allclose(P.var(axis=0), mean * (1 - mean) / (total + 1), atol=0.02)
    n, s = agent.visits + 2, agent.reward_sums + 1
    np.testing.assert_allclose(R.mean(axis=0), s / n, atol=0.05)
    np.testing.assert_allclose(R.var(axis=0), s * (n - s) / (n**2 * (n + 1)), atol=0.02)


def test_gaussian_rewards_have_the_conjugate_posterior() -> None:
    # In the units of the environment: precision weight/sd² of the prior, 1/sd² of each reward.
    agent = make(
        reward_model="gaussian", reward_sd=0.4, reward_prior_weight=0.5, prior_reward=1.0, reward_range=(-1, 3)
    ).learn(10)
    R = 4 * draws(agent, 3000)[1] - 1
    precision = (0.5 + agent.visits) / 0.4**2
    seen = 4 * agent.reward_sums - agent.visits  # sums of rewards as the environment paid them
    mean = (0.5 / 0.4**2 * 1.0 + seen / 0.4**2) / precision
    np.testing.assert_allclose(R.mean(axis=0), mean, atol=0.04)
    np.testing.assert_allclose(R.var(axis=0), 1 / precision, rtol=0.15)


def test_gaussian_rewards_need_no_range() -> None:
    env = cmerl.envs.FiniteMDP(np.ones((1, 2, 1)), np.array([[5.0, -7.0]]))
    agent = PSRL(env, horizon=3, reward_model="gaussian", seed=1).learn(20)
    assert agent.history[-1].ret == 15.0
    assert agent.q_values(0, explore=False)[0] == pytest.approx(15.0, rel=0.1)


@pytest.mark.parametrize("explore", [True, False])
def test_an_infinite_prior_plays_the_optimal_policy_of_its_mean(explore: bool) -> None:
    world = cmerl.envs.random_mdp(5, 3, seed=8, horizon=6)
    other = cmerl.envs.random_mdp(5, 3, seed=9, horizon=6)  # what is believed, and is not so
    agent = PSRL(
        world,
        prior_weight=np.inf,
        prior_transitions=other.P,
        reward_prior_weight=np.inf,
        prior_reward=np.clip(other.R, 0.01, 0.99),
    ).learn(4)
    believed = cmerl.envs.FiniteMDP(other.P, np.clip(other.R, 0.01, 0.99))
    solution = oracles.solve(believed, 6)
    policy = agent.policy(explore)
    np.testing.assert_allclose(policy.Q, solution.Q, atol=1e-12)
    np.testing.assert_allclose(oracles.evaluate(believed, policy, 6).V, solution.V, atol=1e-9)


def test_a_heavy_prior_does_nearly_so() -> None:
    other = cmerl.envs.random_mdp(5, 3, seed=9, horizon=6)
    agent = PSRL(
        cmerl.envs.random_mdp(5, 3, seed=8, horizon=6),
        prior_weight=1e9,
        prior_transitions=other.P,
        reward_prior_weight=1e9,
        prior_reward=np.clip(other.R, 0.01, 0.99),
    ).learn(4)
    np.testing.assert_allclose(agent.policy().Q, oracles.solve(other, 6).Q, atol=0.1)


def test_an_infinite_prior_is_saved(tmp_path: Any) -> None:
    agent = make(prior_weight=np.inf, reward_prior_weight=np.inf).learn(2)
    agent.save(tmp_path / "agent")
    assert (PSRL.load(tmp_path / "agent").policy().actions == agent.policy().actions).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_weight": 0.0}, "prior_weight must be a number above 0"),
        ({"reward_prior_weight": "x"}, "reward_prior_weight must be a number above 0"),
        ({"reward_model": "student"}, "reward_model must be one of beta, gaussian"),
        ({"reward_sd": -1.0}, "reward_sd must be a number of at least 0"),
        ({"prior_reward": 1.0}, "prior_reward must lie strictly inside"),
        ({"prior_reward": [1, 2, 3]}, "prior_reward must be a number, or numbers of shape"),
        ({"prior_transitions": np.ones((6, 2, 6))}, "prior_transitions must be distributions of shape"),
    ],
)
def test_options_without_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**options)


def test_regret_on_riverswim_is_about_as_known() -> None:
    # 1000 episodes; elsewhere: 59.
    regrets = [sum(record.regret for record in make(seed=seed).learn(1000).history) for seed in (0, 1)]
    assert 30 < np.mean(regrets) < 95
