"""Policies are functions of the observation and the step, whatever was asked before."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents.policies import RandomPolicy
from cmerl.errors import InputError

AGENTS: dict[str, Any] = {
    "numbers": lambda: CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=1).learn(3),
    "direct": lambda: CMERL(gymnasium.make("cmerl/PBall2D-v0"), horizon=8, seed=1, model="direct").learn(3),
    "refined": lambda: CMERL(
        gymnasium.make("Pendulum-v1", max_episode_steps=8), seed=1, model="direct", reward_range=(-17, 0)
    ).learn(3),
    "displacement": lambda: CMERL(
        gymnasium.make("MountainCar-v0", max_episode_steps=25), seed=1, model="displacement"
    ).learn(2),
}


@pytest.mark.parametrize("case", AGENTS)
def test_what_was_asked_before_does_not_matter(case: str) -> None:
    agent = AGENTS[case]()
    agent.env.observation_space.seed(0)
    asked = [(agent.env.observation_space.sample(), step) for step in (0, 3, 1, 7, 0)]
    fresh = [agent.policy()(obs, step) for obs, step in asked]
    policy = agent.policy()
    np.testing.assert_array_equal([policy(obs, step) for obs, step in reversed(asked)], fresh[::-1])
    np.testing.assert_array_equal([agent.predict(obs, step) for obs, step in asked], fresh)
    assert not policy.searches


@pytest.mark.parametrize("case", AGENTS)
def test_an_episode_begins_with_what_predict_says(case: str) -> None:
    agent = AGENTS[case]()
    for _ in range(3):
        policy = agent.policy()
        first = []
        agent.learn(1, callback=lambda agent, record, first=first: first.append(agent.lesson()))
        np.testing.assert_array_equal(policy(first[0]["observations"][0], 0), first[0]["actions"][0])


@pytest.mark.parametrize("step", [-1, 20, 1.5])
def test_what_is_no_step_is_refused(step: Any) -> None:
    agent = AGENTS["numbers"]()
    for ask in (agent.policy(), agent.policy().begin_episode(), agent.predict):
        with pytest.raises(InputError, match="step"):
            ask(0, step)


def test_random_actions_are_fixed_for_an_episode_and_differ_between_them() -> None:
    space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    one, again, other = (RandomPolicy(space, 3, episode, 10) for episode in (0, 0, 1))
    for step in range(10):
        np.testing.assert_array_equal(one(None, step), again(None, step))
    assert not np.array_equal(one(None, 0), other(None, 0))
    assert not np.array_equal(one(None, 0), one(None, 1))
