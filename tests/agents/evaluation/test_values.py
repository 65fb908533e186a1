"""Values of policies: by play, and by data alone, against exact ones."""

import numpy as np
import pytest

import cmerl
from cmerl import CMERL
from cmerl.agents import RandomAgent
from cmerl.envs import FiniteMDP, RiverSwim, random_mdp
from cmerl.errors import InputError
from cmerl.oracles import evaluate, solve


def logged(env, episodes, seed=0):
    return RandomAgent(env, seed=seed, reward_range=(0.0, 1.0)).learn(episodes)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_for_any_policy(seed):
    env = random_mdp(4, 2, seed=seed, horizon=5)
    agent = logged(env, 150, seed)
    table = np.random.default_rng(seed).integers(2, size=(5, 4))
    exact = evaluate(env, table, 5).V[0, 0]
    for policy in (table, lambda obs, step: table[step, obs]):
        found = cmerl.evaluate(policy, agent, start=0)
        assert found.lower <= exact <= found.upper
        assert found.lower <= found.mean <= found.upper
        assert abs(found.mean - exact) < 0.5
        assert "probability at least 0.9" in found.statement


def test_bounds_close_in_on_the_value():
    env = random_mdp(4, 2, seed=1, horizon=5)
    widths = []
    for episodes in (20, 200, 1500):
        found = cmerl.evaluate(RandomAgent(env).policy(), logged(env, episodes))
        widths.append(found.upper - found.lower)
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] < 0.1 * 5


@pytest.mark.parametrize("seed", range(6))
def test_a_pessimistic_policy_is_no_worse_than_who_logged_and_keeps_its_bound(seed):
    env = random_mdp(4, 2, seed=seed, horizon=5)
    agent = logged(env, 300, seed)
    policy = agent.pessimistic_policy(start=0)
    true = evaluate(env, policy.table(np.arange(4)), 5).V[0, 0]
    assert policy.lower <= true
    assert true >= evaluate(env, np.full((5, 4, 2), 0.5), 5).V[0, 0]
    assert policy.lower <= solve(env, 5).V[0, 0]
    assert policy(0, 0) == policy.table(np.arange(4))[0, 0]


def test_data_that_prove_nothing_are_refused_with_the_reason():
    world = random_mdp(3, 2, seed=0, horizon=4)
    agent = logged(FiniteMDP(world.P, np.zeros((3, 2)), horizon=4), 5)
    with pytest.raises(InputError, match="the data support no policy: 20 transitions"):
        agent.pessimistic_policy()


def test_logs_count():
    P = np.zeros((2, 2, 2))
    P[:, 0, 0] = P[:, 1, 1] = 1.0
    env = FiniteMDP(P, np.array([[0.0, 0.0], [1.0, 1.0]]))
    agent = CMERL(env, horizon=4, reward_range=(0.0, 1.0))
    with pytest.raises(InputError, match="where episodes begin"):
        agent.pessimistic_policy()
    path = [0, 0, 1, 1, 0]
    agent.fit([{"observations": path, "actions": [0, 1, 1, 0], "rewards": [0.0, 0.0, 1.0, 1.0]}] * 200)
    policy = agent.pessimistic_policy(start=0)
    assert policy(0, 0) == 1
    assert 2.0 < policy.lower <= 3.0


def test_where_nothing_can_be_proven_it_is_said():
    agent = RandomAgent(RiverSwim(5, 8, coordinates=True), reward_range=(0.0, 1.0))
    with pytest.raises(InputError, match="nothing can be proven: it counts visits"):
        cmerl.evaluate(agent.policy(), agent)


def test_an_agent_is_evaluated_by_play_and_stays_as_it_is():
    env = RiverSwim(5, 8)
    agent, other = (CMERL(env, seed=0).learn(20) for _ in range(2))
    found = agent.evaluate(episodes=200, seed=3)
    exact = float(evaluate(env, agent.policy(explore=False), 8).V[0, 0])
    assert found.interval[0] - 0.05 <= exact <= found.interval[1] + 0.05
    assert found.mean == pytest.approx(found.returns.mean())
    np.testing.assert_array_equal(agent.evaluate(episodes=5, seed=3).returns, agent.evaluate(env, 5, 3).returns)
    assert [r.ret for r in agent.learn(3).history] == [r.ret for r in other.learn(3).history]
    with pytest.raises(InputError, match="episodes must be"):
        agent.evaluate(episodes=0)


def test_a_policy_may_be_a_function_of_the_observation_alone():
    agent = RandomAgent(RiverSwim(4, 5), seed=0).learn(30)
    one, two = cmerl.evaluate(lambda obs: int(obs > 1), agent), cmerl.evaluate(lambda obs, step: int(obs > 1), agent)
    assert one == two


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda agent: cmerl.evaluate(lambda obs: 1, agent, start=4), "start must be a state from 0 to 3, not 4"),
        (lambda agent: cmerl.evaluate(lambda obs: 1, agent, start=-1), "start must be a state from 0 to 3"),
        (lambda agent: cmerl.evaluate(lambda obs: 1, agent, start=0.5), "start must be a state from 0 to 3"),
        (lambda agent: cmerl.evaluate(agent, agent), r"pass agent.policy\(explore=False\)"),
        (lambda agent: cmerl.evaluate(lambda: 1, agent), r"a policy must take \(obs\) or \(obs, step\)"),
        (lambda agent: agent.evaluate(3), r"env must be an environment, not 3: evaluate\(env, episodes=10\)"),
    ],
)
def test_what_cannot_be_evaluated_is_said(ask, says):
    with pytest.raises(InputError, match=says):
        ask(RandomAgent(RiverSwim(4, 5), seed=0).learn(3))
