"""Regret: of one plan, of a replanned episode, in other coordinates, and where there is no model."""

import gymnasium
import numpy as np
import pytest
from small_worlds import Recorder, Unknown, river, smooth_river

from cmerl import CMERL
from cmerl.agents import RandomAgent
from cmerl.envs import FiniteMDP, random_mdp
from cmerl.oracles import evaluate, solve


def tabulate(policy, S, H):
    return np.array([[policy(s, h) for s in range(S)] for h in range(H)])


@pytest.mark.parametrize("start", [2, [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("bonus", ["nonnegative", "practical"])
def test_the_regret_of_one_plan_is_that_of_its_policy(bonus, start):
    tables = random_mdp(4, 3, seed=5)
    env = Recorder(FiniteMDP(tables.P, tables.R, start, horizon=6))
    agent = CMERL(env, seed=1, bonus=bonus, replan="auto" if bonus == "nonnegative" else False)
    best, firsts = solve(tables, 6), set()
    for _ in range(10):
        played = tabulate(agent.policy(), 4, 6)
        record = agent.learn(1).history[-1]
        s = env.episodes[-1][0][0]
        firsts.add(s)
        assert record.regret_kind == "policy"
        assert record.regret == pytest.approx(best.value(s) - evaluate(tables, played, 6).value(s), abs=1e-12)
    assert len(firsts) == (1 if start == 2 else 4)


def test_the_regret_of_a_replanned_episode_is_the_sum_of_its_gaps():
    tables = random_mdp(4, 3, seed=6)
    env = Recorder(FiniteMDP(tables.P, tables.R, [0.25] * 4, horizon=6))
    agent = CMERL(env, seed=1).learn(25)
    best = solve(tables, 6)
    kinds = [record.regret_kind for record in agent.history]
    assert set(kinds) == {"gaps", "policy"}
    for record, episode in zip(agent.history, env.episodes, strict=True):
        if record.regret_kind == "gaps":
            gaps = [best.V[h, s] - best.Q[h, s, a] for h, (s, a, _) in enumerate(episode)]
            assert record.regret == pytest.approx(sum(gaps), abs=1e-12)


def test_regret_in_the_coordinates_of_a_smooth_world():
    env = Recorder(smooth_river())
    agent = CMERL(env, seed=0, replan=False)
    for _ in range(4):
        policy = agent.policy()
        played = np.array([[policy(obs, h) for obs in env.unwrapped.observations] for h in range(8)])
        agent.learn(1)
        expected = solve(env, 8).value(0) - evaluate(env, played, 8).value(0)
        assert agent.history[-1].regret == pytest.approx(expected, abs=1e-12)


def test_regret_where_only_some_actions_are_candidates():
    env = river()
    agent = CMERL(env, actions=[1], replan=False).learn(1)
    always_right = evaluate(env, np.ones((8, 5), dtype=int), 8).value(0)
    assert agent.history[0].regret == pytest.approx(solve(env, 8).value(0) - always_right)


def test_without_a_model_there_is_no_regret():
    for agent in (CMERL(Unknown(), horizon=3), RandomAgent(Unknown(), horizon=3)):
        record = agent.learn(1).history[0]
        assert record.regret is None
        assert record.regret_kind is None


@pytest.mark.parametrize(
    "wrap",
    [
        gymnasium.wrappers.FlattenObservation,
        lambda env: gymnasium.wrappers.TransformReward(env, lambda r: 10 * r),
        lambda env: gymnasium.wrappers.TransformAction(env, lambda a: 1 - a, env.action_space),
    ],
)
def test_a_wrapper_that_changes_the_world_leaves_no_model_to_compare_with(wrap):
    record = CMERL(wrap(river()), horizon=8).learn(1).history[0]
    assert record.length == 8
    assert record.regret is None
