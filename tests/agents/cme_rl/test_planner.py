"""The plans of one agent: made once an episode, for the task of the moment."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.errors import InputError
from cmerl.optimism import RangeCeiling
from cmerl.planning import make_plan

STATES = np.arange(6.0)[:, None]


def river(**options) -> CMERL:
    return CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=1, **options)


def test_a_plan_is_made_once_and_forgotten_when_data_arrive() -> None:
    agent = river().learn(2)
    plan = agent.planner.plan()
    assert agent.planner.plan() is plan
    assert agent.planner.plan(explore=False) is not plan
    agent.learn(1)
    assert agent.planner.plan() is not plan
    assert agent.planner.plan().episode == 4


def test_the_plan_is_the_backward_pass_over_the_task_of_the_moment() -> None:
    planner = river().learn(3).planner
    afresh = make_plan(planner.model.embeddings, planner.task(), episode=4, order=planner.order())
    np.testing.assert_array_equal(planner.plan().q_table(STATES), afresh.q_table(STATES))
    np.testing.assert_array_equal(planner.q_values(2, 5), planner.plan().q(STATES[2:3], 5)[0])


def test_ties_are_broken_anew_at_every_step_episode_and_replan() -> None:
    agent = river()
    orders = [agent.planner.order().tolist(), agent.planner.order(replans=1).tolist()]
    assert len({tuple(row) for row in orders[0]}) > 1  # steps
    agent.learn(1)
    orders.append(agent.planner.order().tolist())
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert river().planner.order().tolist() == orders[0]


def test_a_part_of_the_users_own_is_used_and_named() -> None:
    asked = []

    def backward(*arguments, **named):
        asked.append(named["episode"])
        return make_plan(*arguments, **named)

    agent = river(planner=backward, optimism=RangeCeiling()).learn(2)
    assert asked
    assert set(asked) == {1, 2}
    assert agent.planner.parts.own == ["optimism", "planner"]
    assert agent.planner.optimism == RangeCeiling()
    plain = river(optimism=RangeCeiling()).learn(2)
    assert [r.ret for r in agent.history] == [r.ret for r in plain.history]
    with pytest.raises(InputError, match=r"parts of your own \(optimism, planner\) cannot be saved"):
        agent.save("nowhere")
