"""Runs in provable modes: the bound on regret that they state for themselves, and what they take for granted."""

import numpy as np
import pytest
from agent_runs import known, smooth
from small_worlds import jackpot

from cmerl import CMERL
from cmerl.envs import RiverSwim, random_mdp
from cmerl.errors import InputError, RewardRangeError
from cmerl.oracles import solve

MODES = ["paper", "tight", "split", "nonnegative"]


@pytest.mark.parametrize("bonus", MODES)
@pytest.mark.parametrize("reward", ["known", "learned"])
def test_a_run_in_a_known_world_certifies_every_episode_and_bounds_its_regret(bonus, reward):
    env = random_mdp(4, 2, seed=3, concentration=0.5, horizon=5)
    agent = known(env, seed=1, bonus=bonus, lam=0.2)
    if reward == "learned":
        agent = CMERL(env, seed=1, bonus=bonus, lam=0.2, reward_range=(0, 1))
    agent.learn(40)
    metrics = [r.metrics for r in agent.history]
    assert all(m["in_set"] is True and m["optimistic"] is True for m in metrics)
    bounds, regret = [m["regret_bound"] for m in metrics], np.cumsum([r.regret for r in agent.history])
    assert np.all(regret <= bounds)
    assert np.all(np.array(bounds) <= 5 * np.arange(1, 41) + 1e-9)
    assert np.all(np.diff(bounds) >= -1e-9)


def test_the_bound_of_a_run_is_the_same_after_saving_and_loading(tmp_path):
    env = RiverSwim(4, 6)
    whole = known(env, seed=2, bonus="nonnegative").learn(12)
    half = known(env, seed=2, bonus="nonnegative").learn(5)
    half.save(tmp_path / "agent")
    loaded = CMERL.load(tmp_path / "agent", env=env, reward=lambda s, a: env.R[s, a]).learn(7)
    assert loaded.history[-1].metrics == whole.history[-1].metrics


# --- what must not be certified ------------------------------------------------------------------------------


def test_rewards_that_nobody_bounded_are_named_as_an_assumption():
    env = jackpot()
    missed = 0
    for seed in range(5):
        agent = CMERL(env, seed=seed, bonus="nonnegative").learn(8)
        proof = agent.diagnostics()["proof"]
        if agent.reward_range[1] > 1:
            assert proof.startswith("void: a reward outside the assumed")
            continue
        missed += agent.value_bounds(0)[1] < solve(env, 4).value(0)
        assert "if all rewards lie in [0, 1]" in proof
        assert "reward_range" in proof
        assert agent.history[-1].metrics["assumes"] == "all rewards lie in [0, 1]"
    assert missed  # so the assumption had to be named
    declared = CMERL(env, seed=0, bonus="nonnegative", reward_range=(0, 500)).learn(8)
    assert declared.diagnostics()["proof"] == "holds with probability 1 - delta"
    assert "assumes" not in declared.history[-1].metrics
    assert declared.value_bounds(0)[1] >= solve(env, 4).value(0)


def test_a_known_reward_with_all_states_known_bounds_itself():
    env = jackpot()
    agent = CMERL(env, seed=0, bonus="nonnegative", reward=lambda s, a: env.R[s, a]).learn(2)
    assert agent.diagnostics()["proof"] == "holds with probability 1 - delta"
    assert agent.value_bounds(0)[1] >= solve(env, 4).value(0)
    with pytest.raises(RewardRangeError, match="500"):
        CMERL(env, bonus="nonnegative", reward=lambda s, a: env.R[s, a], reward_range=(0, 1))


def test_a_known_reward_on_infinitely_many_states_bounds_nothing():
    _, agent = smooth(B_P=50.0, B_V=500.0, reward=lambda s, a: 0.2, reward_range="auto")
    assert "if all rewards lie in [0, 1]" in agent.learn(2).diagnostics()["proof"]
    # The function says more than was ever paid: at next states, for actions that nobody took.
    _, agent = smooth(B_P=50.0, B_V=500.0, reward=lambda s, a: 9.0, reward_range="auto")
    assert agent.learn(2).diagnostics()["proof"].startswith("void: a reward outside the assumed")
    assert "regret_bound" not in agent.history[-1].metrics
    _, agent = smooth(B_P=50.0, B_V=500.0, reward=lambda s, a: 9.0)
    with pytest.raises(RewardRangeError, match="9"):
        agent.learn(2)


@pytest.mark.parametrize("bonus", MODES)
def test_a_ridge_that_rounding_swallows_is_refused_where_something_is_proven(bonus):
    env = random_mdp(3, 2, seed=0, horizon=4)
    with pytest.raises(InputError, match="lam"):
        known(env, bonus=bonus, lam=1e-14)
    CMERL(env, lam=1e-14).learn(1)
    least = known(env, seed=1, bonus=bonus, lam=1e-6).learn(25)
    N = least.embedding.visit_counts([[s, a] for s in range(3) for a in range(2)])
    sigma = least.embedding.std([[s, a] for s in range(3) for a in range(2)])
    np.testing.assert_allclose(sigma, np.sqrt(1e-6 / (N + 1e-6)), rtol=1e-6)
    assert all(record.metrics["optimistic"] for record in least.history)
