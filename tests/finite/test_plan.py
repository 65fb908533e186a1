"""Plans by tables: their methods agree, and they are optimistic."""

import numpy as np
from agent_runs import known

from cmerl.envs import random_mdp
from cmerl.oracles import solve


def test_the_kl_plan_is_optimistic_and_its_methods_agree():
    env = random_mdp(4, 3, seed=7, concentration=0.4, horizon=5)
    agent = known(env, seed=0, bonus="kl").learn(25)
    plan, states = agent.planner.plan(), agent.planner.all_states
    Q = plan.q_table(states)
    assert (Q >= solve(env, 5).Q - 1e-9).all()
    for step in range(5):
        np.testing.assert_array_equal(plan.q(states, step), Q[step])
        np.testing.assert_array_equal(plan.act(states, step), plan.table(states)[step])
        np.testing.assert_allclose(agent.q_values(2, step), Q[step, 2])
        assert (plan.value(states, step) <= Q[step].max(axis=1) + 1e-12).all()
        np.testing.assert_allclose(plan.value(states, step), plan.value_table(states)[step])
        assert (plan.bonus(states, step) >= -1e-9).all()
    np.testing.assert_array_equal(agent.policy().table(env.observations), plan.table(states))
    assert agent.predict(1, 2) == plan.table(states)[2, 1]
    assert agent.predict(1, 2, explore=False) in range(3)
