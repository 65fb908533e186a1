"""Stable-Baselines3 evaluates our agents, and gets what they would play."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents import RandomAgent
from cmerl.agents.sb3 import StableBaselinesPolicy
from cmerl.envs import RiverSwim


def river():
    return gymnasium.wrappers.TimeLimit(RiverSwim(5, 8), 8)


@pytest.mark.filterwarnings("ignore::UserWarning")  # that no Monitor wraps the environment
def test_its_evaluation_is_the_value_of_the_plan():
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    agent = CMERL(river(), seed=0).learn(30)
    mean, std = evaluation.evaluate_policy(StableBaselinesPolicy(agent), river(), n_eval_episodes=400)
    from cmerl.oracles import evaluate

    exact = float(evaluate(river(), agent.policy(explore=False), 8).V[0, 0])
    assert abs(mean - exact) < 4.0 * std / np.sqrt(400)


def test_each_environment_is_at_a_step_of_its_own():
    agent = RandomAgent(river(), seed=4)  # whose actions depend on the step alone
    model, policy = StableBaselinesPolicy(agent, explore=True), agent.policy()
    obs, state = np.zeros(2, dtype=int), None
    starts = np.array([[1, 1], [0, 0], [0, 1], [0, 0]], dtype=bool)
    steps = [(0, 0), (1, 1), (2, 0), (3, 1)]
    for start, step in zip(starts, steps, strict=True):
        actions, state = model.predict(obs, state, start)
        assert actions.tolist() == [policy(0, h) for h in step]


def test_one_environment_alone():
    agent = RandomAgent(river(), seed=4)
    model, state, played = StableBaselinesPolicy(agent, explore=True), None, []
    for _ in range(8):
        action, state = model.predict(0, state)
        played.append(action)
    assert played == [agent.policy()(0, h) for h in range(8)]
