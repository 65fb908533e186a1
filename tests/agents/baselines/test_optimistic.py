"""Optimists that count: Q is optimistic with the papers' constants, and options without sense are refused."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

import cmerl
from cmerl import agents, oracles
from cmerl.agents.baselines.tabular import TabularAgent
from cmerl.errors import InputError

COUNTING = agents.groups()["tabular"]


def make(name: str, env: Any = "cmerl/RiverSwim-v0", **options: Any) -> TabularAgent:
    agent = agents.make(name, gymnasium.make(env) if isinstance(env, str) else env, **options)
    assert isinstance(agent, TabularAgent)
    return agent


@pytest.mark.parametrize("name", ["ucbvi-ch", "ucbvi-bf", "ucrl2", "kl-ucrl", "q-learning"])
def test_with_the_papers_constants_q_is_optimistic_at_every_episode(name: str) -> None:
    agent = make(name, cmerl.envs.random_mdp(4, 2, seed=5, horizon=4), theory=True, seed=1)
    best = oracles.solve(agent.env, agent.horizon).Q
    for _ in range(30):
        assert (agent.policy().Q - best >= -1e-9).all()
        agent.learn(1)
    assert agent.policy().Q.max() <= agent.horizon + 1e-9 or name == "q-learning"  # whose Q alone is not clipped
    # The same data without any bonus are not optimistic, so the test can fail.
    assert (agent.policy(explore=False).Q - best < 0).any()


@pytest.mark.parametrize("name", [n for n in COUNTING if "theory" in agents.options(n)])
def test_options_of_optimists_without_sense_are_refused(name: str) -> None:
    for wrong in ({"bonus_scale": -1.0}, {"theory": 2}, {"delta": 0.0}, {"delta": 1.0}):
        (option,) = wrong
        with pytest.raises(InputError, match=f"{option} must"):
            make(name, **wrong)
