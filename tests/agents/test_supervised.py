"""Supervised policies: `predict` says what is played, there is no table, and a watch goes on with a new plan."""

import numpy as np
import pytest
from small_worlds import Line, home

from cmerl import CMERL
from cmerl.errors import InputError


def test_predict_says_what_would_be_played():
    agent = CMERL(Line(), horizon=15, limits={"place": (-1.0, 1.0)}, fallback=home, seed=1).learn(2)
    first = []
    env = agent.env
    policy = agent.policy()
    agent.learn(1, callback=lambda agent, record: first.append(agent.lesson()))
    np.testing.assert_array_equal(policy(first[0]["observations"][0], 0), first[0]["actions"][0])
    assert env is agent.env


def test_there_is_no_table_of_what_is_decided_on_the_way():
    policy = CMERL(Line(), horizon=5, limits={"place": (-1.0, 1.0)}, fallback=home).policy()
    assert policy.searches
    with pytest.raises(InputError, match="has no table of actions"):
        policy.table(np.zeros((2, 1)))


def test_a_new_plan_goes_on_with_the_same_watch():
    agent = CMERL(Line(), horizon=5, limits={"place": (-1.0, 1.0)}, cost="wear", cost_budget=9.0, fallback=home)
    begun = agent.policy().begin_episode()
    action = begun(np.zeros(1), 0)
    begun.spend(begun.price(np.zeros(1), action, np.zeros(1), {"wear": 0.25}))
    after = begun.go_on_with(agent.policy())
    assert after.interventions == begun.interventions
    assert [i.by for i in after.interventions] == ["fallback"]
    assert after.cost == begun.cost == 0.25
