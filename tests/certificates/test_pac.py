"""What is said of a policy that is drawn: requests that can be met, and Markov's inequality."""

import gymnasium
import numpy as np
import pytest
from agent_runs import known
from small_worlds import bandit_like

from cmerl import CMERL
from cmerl.certificates.pac import statement
from cmerl.envs import FiniteMDP, RiverSwim
from cmerl.errors import InputError


def test_what_cannot_be_promised_is_refused_in_a_sentence():
    varying = FiniteMDP(bandit_like().P, bandit_like().R, horizon=2, start=np.array([0.5, 0.5]))
    with pytest.raises(InputError, match="first state varies"):
        known(varying, bonus="split").learn(2).pac_policy(0.5)
    with pytest.raises(InputError, match="first state varies"):
        CMERL(gymnasium.make("CartPole-v1", max_episode_steps=10), seed=0).learn(2).pac_policy(0.5)
    agent = known(bandit_like(), bonus="split")
    with pytest.raises(InputError, match="learn first"):
        agent.pac_policy(0.5)
    agent.learn(1)
    with pytest.raises(InputError, match="delta must lie between the agent's own"):
        agent.pac_policy(0.5, delta=0.05)
    with pytest.raises(InputError, match="epsilon must be"):
        agent.pac_policy(-1.0)


def test_no_policy_is_said_to_lose_more_than_there_is():
    agent = known(RiverSwim(4, 6), seed=0, bonus="nonnegative").learn(3)
    assert agent.history[-1].metrics["regret_bound"] / (0.4 * 3) > 6
    found = agent.pac_policy(6.0, delta=0.5)
    assert found.epsilon == 6.0
    assert found.certified


def test_a_drawn_policy_loses_more_than_said_with_the_failure_probability_at_most():
    # Markov: of T losses that sum to the bound, at most a share of failure exceeds bound/(failure·T), and no less.
    losses = np.array([0.0, 0.1, 0.2, 0.5, 1.2])
    for failure in (0.2, 0.4, 0.8):
        said, certified, words = statement(losses.sum(), 5, failure, 1.0, 0.9, "holds", most=10.0)
        assert (losses > said).mean() <= failure
        assert certified == (said <= 1.0) == ("as asked" in words)
    worst = np.array([0.0, 0.0, 0.0, 0.0, 2.0])  # where the inequality is attained
    assert statement(worst.sum(), 5, 0.2, 1.0, 0.9, "holds", most=10.0)[0] == pytest.approx(worst.max())
    assert statement(None, 5, 0.2, 1.0, 0.9, "void", most=10.0)[:2] == (None, False)
