"""ε-greedy: how often it plays at random, and that its regret is that of its law."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import oracles
from cmerl.agents import GreedyAgent
from cmerl.agents.baselines.epsilon_greedy import EpsilonGreedyAgent
from cmerl.errors import InputError


def river() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("cmerl/RiverSwim-v0")


def test_with_epsilon_0_it_is_the_greedy_control() -> None:
    greedy, same = GreedyAgent(river(), seed=2).learn(10), EpsilonGreedyAgent(river(), epsilon=0.0, seed=2).learn(10)
    assert [r.ret for r in greedy.history] == [r.ret for r in same.history]
    assert [r.regret for r in greedy.history] == pytest.approx([r.regret for r in same.history])


def test_a_share_of_actions_is_uniform() -> None:
    agent = EpsilonGreedyAgent(river(), epsilon=0.4, seed=1)
    planned = agent.policy(explore=False)
    other = []
    for _ in range(150):
        policy = agent.policy()
        other += [policy(2, step) != planned(2, step) for step in range(20)]
        agent.history.append(agent.history[-1] if agent.history else agent.learn(1).history[0])
        planned = agent.policy(explore=False)
    assert np.mean(other) == pytest.approx(0.2, abs=0.03)  # half of the random actions are the planned one


def test_its_regret_is_that_of_its_law() -> None:
    agent = EpsilonGreedyAgent(river(), epsilon=0.3, seed=1, replan=False).learn(3)
    model = oracles.finite_model(agent.env)
    assert model is not None
    policy: Any = agent.policy()
    law = policy.probabilities(model.observations)
    np.testing.assert_allclose(law.sum(axis=2), 1.0)
    assert set(np.unique(law).round(12)) == {0.15, 0.85}
    expected = oracles.solve(model, 20).V[0, 0] - oracles.evaluate(model, law, 20).V[0, 0]
    record = agent.learn(1).history[-1]
    assert (record.regret_kind, record.regret) == ("policy", pytest.approx(expected))


def test_epsilon_decays() -> None:
    agent = EpsilonGreedyAgent(river(), epsilon=0.5, decay=1.0, seed=1).learn(4)
    policy: Any = agent.policy()
    assert policy.epsilon == pytest.approx(0.1)


def test_continuous_actions_are_drawn_from_their_space() -> None:
    agent = EpsilonGreedyAgent(gymnasium.make("Pendulum-v1"), horizon=10, epsilon=1.0, seed=1)
    actions = np.array([agent.policy()(np.zeros(3), step)[0] for step in range(10)])
    assert len(set(actions)) == 10
    assert agent.learn(1).history[0].length == 10


@pytest.mark.parametrize("options", [{"epsilon": -0.1}, {"epsilon": 1.1}, {"decay": -1.0}, {"epsilon": "x"}])
def test_options_without_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"(epsilon|decay) must"):
        EpsilonGreedyAgent(river(), **options)
