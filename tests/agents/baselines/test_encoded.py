"""What all linear, kernel and dynamical agents promise."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import agents
from cmerl.agents.baselines.encoded import EncodedAgent, StepPolicy
from cmerl.agents.baselines.kernel_agents import DYNAMICAL, LINEAR_AND_KERNEL
from cmerl.envs import FiniteMDP
from cmerl.errors import InputError, RewardRangeError

NAMES = [agent.name for agent in LINEAR_AND_KERNEL]
STEPPED = [name for name in NAMES if name != "igp-ucb"]
CONTROL = [agent.name for agent in DYNAMICAL]
QUICK: dict[str, dict[str, Any]] = {"lc3": {"samples": 8, "rounds": 2, "depth": 4}}


def make(name: str, **options: Any) -> EncodedAgent:
    world = "LinearQuadratic" if name in CONTROL else "RiverSwim"
    agent = agents.make(name, gymnasium.make(f"cmerl/{world}-v0"), **{**QUICK.get(name, {}), **options})
    assert isinstance(agent, EncodedAgent)
    return agent


def returns(agent: agents.Agent) -> list[float]:
    return [record.ret for record in agent.history]


@pytest.mark.parametrize("name", [*NAMES, *CONTROL])
def test_learning_in_parts_from_lessons_and_from_a_file_is_the_same(name: str, tmp_path) -> None:
    whole = make(name, seed=4).learn(6)
    parts, student = make(name, seed=4), make(name, seed=4)
    parts.learn(3, callback=lambda agent, record: student.relearn(record, agent.lesson()))
    parts.save(tmp_path / "agent")
    loaded = type(parts).load(tmp_path / "agent", parts.env)
    for agent in (parts, student, loaded):
        agent.learn(3)
        assert returns(agent) == returns(whole)
        assert agent.diagnostics() == whole.diagnostics()


@pytest.mark.parametrize("name", NAMES)
def test_also_with_the_papers_constants(name: str, tmp_path) -> None:
    whole = make(name, seed=1, theory=True).learn(4)
    part = make(name, seed=1, theory=True).learn(2)
    part.save(tmp_path / "agent")
    assert returns(type(part).load(tmp_path / "agent", part.env).learn(2)) == returns(whole)
    assert whole.diagnostics()["constants"] == "the paper's"


@pytest.mark.parametrize("name", [*NAMES, *CONTROL])
def test_where_the_papers_constants_can_be_had_they_change_the_plan(name: str) -> None:
    if "theory" not in agents.options(name):
        with pytest.raises(InputError, match="theory"):
            make(name, theory=True)
        assert name == "ce-lq"
        return
    practical, paper = (make(name, theory=theory, seed=3).learn(8) for theory in (False, True))
    if name in CONTROL:
        assert returns(practical) != returns(paper)
        return
    plans = [[agent.q_values(s, h) for s in range(6) for h in range(agent.horizon)] for agent in (practical, paper)]
    assert not np.allclose(*plans)


@pytest.mark.parametrize("name", NAMES)
def test_looking_changes_nothing_and_a_plan_outlives_what_is_learned_later(name: str) -> None:
    one, other = make(name, seed=2).learn(3), make(name, seed=2).learn(3)
    policy = other.policy()
    assert isinstance(policy, StepPolicy)
    states = np.arange(6.0)[:, None]
    before = [policy.q(states, step) for step in range(other.horizon)]
    for step in range(other.horizon):
        other.predict(5, step)
        other.predict(3, step, explore=False)
    assert returns(one.learn(2)) == returns(other.learn(2))
    for step, q in enumerate(before):
        np.testing.assert_array_equal(policy.q(states, step), q)


@pytest.mark.parametrize("name", STEPPED)
def test_ties_are_broken_by_the_seed(name: str) -> None:
    env = FiniteMDP(np.ones((1, 4, 1)), np.zeros((1, 4)), horizon=2)
    first = {agents.make(name, env, seed=seed).predict(0, explore=False) for seed in range(30)}
    assert first == {0, 1, 2, 3}


@pytest.mark.parametrize("name", STEPPED)
def test_a_policy_knows_the_step(name: str) -> None:
    # Action 0 pays a little at once; action 1 leads to where everything pays much, which is worth it early only.
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[0, 1, 1] = P[1, :, 1] = 1.0
    R = np.array([[0.3, 0.0], [1.0, 1.0]])
    agent = agents.make(name, FiniteMDP(P, R, start=[0.5, 0.5], horizon=3), seed=0).learn(60)
    greedy = [agent.predict(0, step, explore=False) for step in range(3)]
    assert greedy == [1, 1, 0]


@pytest.mark.parametrize("name", STEPPED)
def test_without_scale_there_is_no_bonus(name: str) -> None:
    agent = make(name, bonus_scale=0.0, seed=1).learn(3)
    for step in (0, 10, 19):
        for state in range(6):
            if "ucbvi" in name:  # off the data these know nothing but the cap
                continue
            np.testing.assert_allclose(agent.q_values(state, step), agent.q_values(state, step, False), atol=1e-12)
    assert make(name, bonus_scale=3.0).bonus_scale == 3.0


class Exit(gymnasium.Env):
    """Action 0 ends the episode for nothing; action 1 costs 1 and goes on."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(2)
    horizon = 3

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, -float(action), action == 0, False, {}


@pytest.mark.parametrize("name", STEPPED)
def test_an_end_earns_nothing_more(name: str) -> None:
    # Rewards in [−1, 1]: scaled, an end is worth half a step for each step left, and must look better than to go on.
    agent = agents.make(name, Exit(), reward_range=(-1.0, 1.0), seed=0, bonus_scale=0.1).learn(80)
    assert isinstance(agent, EncodedAgent)
    assert [agent.predict(0, step, explore=False) for step in range(3)] == [0, 0, 0]
    np.testing.assert_allclose(agent.q_values(0, 0, explore=False)[0], 0.0, atol=0.12)


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused(name: str) -> None:
    with pytest.raises(RewardRangeError, match=r"episode 0, step 0: reward 0.* lies outside reward_range"):
        make(name, reward_range=(2.0, 3.0)).learn(1)
    with pytest.raises(InputError, match="lo < hi"):
        make(name, reward_range=(1.0, 1.0))
    with pytest.raises(InputError, match="bonus_scale must be a number of at least 0"):
        make(name, bonus_scale=-1.0)
    with pytest.raises(InputError, match="delta must lie strictly between 0 and 1"):
        make(name, delta=1.0)


@pytest.mark.parametrize("name", CONTROL)
def test_control_needs_numbers(name: str) -> None:
    with pytest.raises(InputError, match=f"agent '{name}'"):
        agents.make(name, gymnasium.make("cmerl/RiverSwim-v0"))
