"""A policy drawn from those that were played, and the statement that holds for it."""

import numpy as np
import pytest
from agent_runs import known
from small_worlds import bandit_like

from cmerl import CMERL
from cmerl.envs import FiniteMDP, RiverSwim
from cmerl.oracles import evaluate, solve


@pytest.mark.parametrize("bonus", ["nonnegative", "tight", "practical", "auto"])
def test_the_policy_is_one_of_those_that_were_played(bonus):
    env = RiverSwim(4, 6)
    drawn = set()
    for seed in range(3):
        agent = CMERL(env, seed=seed, bonus=bonus, reward_range=(0, 1), replan=False)
        played = []
        for _ in range(9):
            played.append(agent.policy().table(env.observations))
            agent.learn(1)
        found = agent.pac_policy(0.5)
        np.testing.assert_array_equal(found.table(env.observations), played[found.episode])
        assert found(0, 0) == played[found.episode][0, 0]
        assert agent.pac_policy(0.5).episode == found.episode  # the draw is part of the seeds
        drawn.add(found.episode)
    assert len(drawn) > 1


def test_the_statement_follows_from_the_bound_on_regret_and_is_certified_where_that_suffices():
    env = bandit_like()
    agent = known(env, seed=0, bonus="split", lam=0.1).learn(60)
    strict = agent.pac_policy(0.01, delta=0.6)
    assert not strict.certified
    assert "play more episodes" in strict.statement
    late = agent.pac_policy(strict.epsilon + 0.01, delta=0.6)
    assert late.certified
    assert late.epsilon == pytest.approx(min(agent.history[-1].metrics["regret_bound"] / (0.5 * 60), 2.0))
    lost = solve(env, 2).value(0) - evaluate(env, late, 2).value(0)
    assert lost <= late.epsilon
    assert "as asked" in late.statement


def test_without_a_proof_the_statement_says_so():
    agent = CMERL(RiverSwim(4, 6), seed=0).learn(3)
    found = agent.pac_policy(0.1)
    assert found.epsilon is None
    assert not found.certified
    assert found.statement.startswith("nothing is proven")


def test_broken_off_episodes_do_not_confuse_the_draw():
    class Faulty(FiniteMDP):
        fail = False

        def step(self, action):
            if self.fail:
                raise RuntimeError("power cut")
            return super().step(action)

    env = Faulty(bandit_like().P, bandit_like().R, horizon=4)
    agent, played = known(env, seed=5, bonus="tight"), []
    for episode in range(6):
        if episode == 2:
            env.fail = True
            with pytest.raises(RuntimeError, match="power cut"):
                agent.learn(1)
            env.fail = False
        played.append(agent.policy().table(env.observations))
        agent.learn(1)
    found = agent.pac_policy(0.5)
    np.testing.assert_array_equal(found.table(env.observations), played[found.episode])
