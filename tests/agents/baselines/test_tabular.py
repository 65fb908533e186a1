"""Agents that count: what they share, against closed forms."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import agents, oracles
from cmerl.agents.baselines.tabular import TabularAgent, break_ties
from cmerl.errors import InputError, RewardRangeError

COUNTING = agents.groups()["tabular"]
PLANNING = [name for name in COUNTING if name != "q-learning"]  # those that have a model


def make(name: str, env: Any = "cmerl/RiverSwim-v0", **options: Any) -> TabularAgent:
    agent = agents.make(name, gymnasium.make(env) if isinstance(env, str) else env, **options)
    assert isinstance(agent, TabularAgent)
    return agent


def know(agent: TabularAgent, visits: float) -> oracles.FiniteModel:
    """Let an agent have seen the truth, so often that nothing is left to doubt."""
    model = oracles.finite_model(agent.env)
    assert model is not None
    agent.counts[:] = visits * model.P
    agent.reward_sums[:] = visits * model.R
    agent.reward_squares[:] = visits * model.R**2
    return model


@pytest.mark.parametrize("name", PLANNING)
@pytest.mark.parametrize("explore", [True, False])
def test_who_has_seen_everything_plays_optimally(name: str, explore: bool) -> None:
    agent = make(name)
    model = know(agent, 1e12)
    solution = oracles.solve(model, agent.horizon)
    value = oracles.evaluate(model, agent.policy(explore), agent.horizon).V[0]
    np.testing.assert_allclose(value, solution.V[0], rtol=1e-4)
    np.testing.assert_allclose(agent.policy(explore).Q, solution.Q, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", COUNTING)
def test_ends_are_worth_nothing_whatever_the_range_of_rewards(name: str) -> None:
    # Every step costs 1, and action 1 ends the episode at a cost of 1: to end at once is best, from any data.
    class Costly(gymnasium.Env[int, int]):
        observation_space = gymnasium.spaces.Discrete(2, start=3)
        action_space = gymnasium.spaces.Discrete(2, start=-1)

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            return 3, {}

        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            return 4, -1.0, action == 0, False, {}

    agent = make(name, Costly(), horizon=5, reward_range=(-1.0, 0.0), seed=2).learn(60)
    assert agent.counts.shape == (2, 2, 3)
    assert agent.predict(3, explore=False) == 0
    assert agent.q_values(3, explore=False)[1] == pytest.approx(-1.0, abs=0.05 if name == "psrl" else 1e-9)
    assert [record.length for record in agent.history[-3:]] == [1, 1, 1]


@pytest.mark.parametrize("name", COUNTING)
def test_ends_of_episodes_are_counted_as_such(name: str) -> None:
    agent = make(name, "FrozenLake-v1").learn(20)
    ended = sum(record.length < agent.horizon for record in agent.history)
    assert agent.counts.shape == (16, 4, 17)
    assert agent.counts[..., -1].sum() >= ended > 0
    assert agent.visits.sum() == sum(record.length for record in agent.history)


@pytest.mark.parametrize("name", COUNTING)
def test_learning_in_parts_from_lessons_and_from_a_file_is_the_same(name: str, tmp_path: Any) -> None:
    whole = make(name, seed=4).learn(12)
    parts, student = make(name, seed=4), make(name, seed=4)

    def teach(agent: agents.Agent, record: agents.EpisodeRecord) -> None:
        student.relearn(record, agent.lesson())

    parts.learn(7, callback=teach)
    parts.save(tmp_path / "agent")
    loaded = type(parts).load(tmp_path / "agent", gymnasium.make("cmerl/RiverSwim-v0"))
    for agent in (parts, student, loaded):
        agent.learn(5)
        assert [record.ret for record in agent.history] == [record.ret for record in whole.history]
        for array in {name for base in type(whole).__mro__ for name in vars(base).get("saved_arrays", ())}:
            assert (getattr(agent, array) == getattr(whole, array)).all()


@pytest.mark.parametrize("name", COUNTING)
def test_what_cannot_be_counted_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"agent '{name}' counts: it needs Discrete spaces"):
        make(name, "CartPole-v1")
    with pytest.raises(RewardRangeError, match=r"episode 0, step 0: reward 0.* lies outside reward_range"):
        make(name, reward_range=(2.0, 3.0)).learn(1)
    for wrong in ((1.0, 1.0), (0.0, np.inf), "ab", 3):
        with pytest.raises(InputError, match="reward_range must be"):
            make(name, reward_range=wrong)
    for obs in (-1, 6, 0.5, "x", None, True):
        with pytest.raises(InputError, match="an observation must be a whole number from 0 to 5"):
            make(name).predict(obs)


def test_a_saved_agent_does_not_go_on_in_another_world(tmp_path: Any) -> None:
    make("ucbvi").learn(1).save(tmp_path / "agent")
    with pytest.raises(InputError, match="saved with 6 states and 2 actions"):
        agents.UCBVI.load(
            tmp_path / "agent",
            gymnasium.make("cmerl/GridWorld-v0"),
        )
    assert agents.UCBVI.load(tmp_path / "agent").predict(0) in (0, 1)


def test_diagnostics_say_what_was_seen() -> None:
    told = make("ucbvi", bonus_scale=0.3).learn(2).diagnostics()
    assert told["transitions"] == 40
    assert told["bonus_scale"] == 0.3


def test_ties_are_drawn_evenly_and_nothing_else_is() -> None:
    Q = np.zeros((1, 4000, 3))
    Q[..., 2] = 1.0
    Q[..., 0] = 1.0 - 1e-13  # rounding
    chosen = break_ties(Q, np.random.default_rng(0))
    assert set(chosen.ravel()) == {0, 2}
    assert abs((chosen == 0).mean() - 0.5) < 0.04


def test_ties_depend_on_the_seed_and_on_the_episode() -> None:
    tables = [make("ucbvi", seed=seed).policy().actions for seed in (0, 0, 1)]
    assert (tables[0] == tables[1]).all()
    assert (tables[0] != tables[2]).any()
    agent = make("ucbvi", "cmerl/GridWorld-v0")
    first = agent.policy().actions
    assert (first != agent.learn(1).policy().actions).any()
