"""The controls: the regret of random play, and greed without optimism."""

import numpy as np
import pytest
from small_worlds import river

import cmerl.agents
from cmerl.agents import GreedyAgent, RandomAgent
from cmerl.errors import InputError
from cmerl.oracles import evaluate, solve


def test_the_regret_of_random_play_is_that_of_the_uniform_policy():
    env = river()
    uniform = evaluate(env, np.full((8, 5, 2), 0.5), 8).value(0)
    for record in RandomAgent(env, seed=3).learn(3).history:
        assert record.regret == pytest.approx(solve(env, 8).value(0) - uniform)


def test_greed_believes_the_least_of_what_it_has_not_seen():
    agent = GreedyAgent(river(), seed=0)
    assert agent.q_values(0).tolist() == [0.0, 0.0]
    agent.learn(5)  # the small reward on the left is all that it ever finds
    left = evaluate(river(), np.zeros((8, 5), dtype=int), 8).value(0)
    assert agent.history[-1].ret == pytest.approx(left)
    with pytest.raises(InputError, match="bonus"):
        cmerl.agents.make("greedy", river(), bonus="tight")


def test_random_play_needs_the_space_of_its_actions(tmp_path):
    RandomAgent(river(), seed=1).learn(1).save(tmp_path / "agent")
    assert RandomAgent.load(tmp_path / "agent", river()).predict(0) in (0, 1)
    with pytest.raises(InputError, match="env="):
        RandomAgent.load(tmp_path / "agent").policy()
