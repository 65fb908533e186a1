"""The explorer: which actor plays a plan, what exploring may cost, and what an episode has paid."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.acting import MPC, Greedy, Refined
from cmerl.agents.cme_rl.explorer import Explorer
from cmerl.agents.cme_rl.settings import Settings


def river(**options: Any) -> CMERL:
    return CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0, **options)


@pytest.fixture(scope="module")
def pendulum() -> CMERL:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=25)
    return CMERL(env, seed=0, model="displacement", actor=Greedy()).learn(3)


def test_a_direct_model_explores_without_a_budget() -> None:
    agent = river().learn(2)
    assert agent.explorer.budget(Greedy(), replans=0) is None
    assert not agent.explorer.unlimited
    assert agent.explorer.report() == {}
    assert agent.explorer.settle() == {}


def test_a_search_without_a_model_to_search_in_is_greedy() -> None:
    agent = river(actor=MPC()).learn(1)
    assert isinstance(agent.policy().actor, Greedy)
    assert not agent.policy().searches


def test_continuous_actions_of_a_direct_plan_are_refined_and_finite_ones_not() -> None:
    line = CMERL(gymnasium.make("cmerl/LinearQuadratic-v0"), seed=0, model="direct").learn(1)
    assert isinstance(line.policy().actor, Refined)
    assert isinstance(river().learn(1).policy().actor, Greedy)


def test_exploration_is_paid_by_the_account_and_greedy_policies_have_no_budget(pendulum: CMERL) -> None:
    explorer = pendulum.explorer
    budget = explorer.budget(Greedy(), replans=0)
    assert budget is not None
    returns = [record.ret for record in pendulum.history]
    spread = float(np.ptp([*returns, pendulum.model.choice.promised]))
    most = min(spread, max(explorer.prospect(), 0.0))
    deposit = explorer.account.rate * most / 4  # of the fourth episode
    assert budget.allowance.left == pytest.approx(min(explorer.account.balance + deposit, most))
    assert pendulum.policy(explore=False).exploration is None


def test_charges_of_an_episode_are_taken_from_the_account_and_told(pendulum: CMERL) -> None:
    explorer = pendulum.explorer
    before = explorer.account
    play = pendulum.policy().begin_episode()
    explorer.begin(play)
    play.exploration.allowance.pay(play.exploration.allowance.left / 2 + 1e-3, -7.0)
    left, spent = play.exploration.allowance.left, play.exploration.allowance.spent
    told = explorer.settle()
    assert told == {"promised": -7.0, "exploration_cost": spent, "deviations": 1}
    assert (explorer.account.balance, explorer.account.spent) == (left, before.spent + spent)
    assert explorer.settle() == {}  # once
    explorer.account = before


def test_the_account_goes_through_json(pendulum: CMERL) -> None:
    other = Explorer(pendulum.planner, pendulum.history)
    other.restore(pendulum.explorer.spec())
    assert other.account == pendulum.explorer.account


def test_more_usual_episodes_look_further_back() -> None:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=10)
    agent = CMERL(env, seed=0, model="displacement", actor=Greedy(), settings=Settings(usual_episodes=2)).learn(4)
    most = float(agent.planner.ceilings().cap[0]) + 10 * agent.rewards.bounds[0]
    assert agent.explorer.prospect() == pytest.approx(most - np.mean([r.ret for r in agent.history[-2:]]))
