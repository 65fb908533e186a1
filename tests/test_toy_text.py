"""Gymnasium's toy worlds have known dynamics, so they have exact values and regret too."""

import gymnasium
import numpy as np
import pytest

import cmerl
from cmerl.oracles import evaluate, finite_model, solve


def test_the_cliff_is_thirteen_steps_long():
    assert solve(gymnasium.make("CliffWalking-v1"), 50).value(36) == -13


def test_with_too_few_steps_it_is_best_to_wait_at_the_cliff():
    assert solve(gymnasium.make("CliffWalking-v1"), 10).value(36) == -10


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_play_returns_what_evaluation_says(name):
    env = gymnasium.make(name, max_episode_steps=30)
    model = finite_model(env)
    rng = np.random.default_rng(0)
    policy = rng.integers(model.R.shape[1], size=(30, len(model.R)))
    value = evaluate(env, policy, 30).V[0] @ model.start
    returns = []
    for seed in range(400):
        s, _ = env.reset(seed=seed)
        total = 0.0
        for step in range(30):
            s, reward, terminated, _, _ = env.step(policy[step, s])
            total += reward
            if terminated:
                break
        returns.append(total)
    assert abs(np.mean(returns) - value) <= 4 * np.std(returns) / 20 + 1e-9


def test_the_frozen_lake_by_value_iteration_on_its_own_dictionary():
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=100)
    outcomes, V = env.unwrapped.P, np.zeros(16)
    for _ in range(100):
        V = np.array(
            [
                max(sum(p * (r + (not end) * V[t]) for p, t, r, end in outcomes[s][a]) for a in range(4))
                for s in range(16)
            ]
        )
    np.testing.assert_allclose(solve(env, 100).V[0], V, atol=1e-12)


def test_episodes_that_end_early_have_exact_regret():
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=20)
    agent = cmerl.CMERL(env, horizon=20, seed=1, replan=False).learn(3)
    for record in agent.history:
        assert record.regret_kind == "policy"
        assert 0 <= record.regret <= solve(env, 20).value(0)
    assert agent.history[0].metrics["optimum"] == solve(env, 20).value(0)


def test_proofs_allow_for_the_early_ends():
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=20)
    agent = cmerl.CMERL(env, horizon=20, bonus="tight", reward_range=(0.5, 1.0))
    assert agent.reward_range == (0.0, 1.0)


def test_a_fickle_passenger_is_not_in_the_tables():
    assert finite_model(gymnasium.make("Taxi-v4", fickle_passenger=True)) is None
    assert finite_model(gymnasium.make("Taxi-v4")) is not None
