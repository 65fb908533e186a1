"""What an agent says of itself."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.agents.cme_rl import diagnostics
from cmerl.errors import InputError


def river(**options) -> CMERL:
    return CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=2, **options)


def test_before_the_first_episode_nothing_is_said_of_predictions() -> None:
    found = river().diagnostics()
    assert found["episodes"] == 0
    assert found["proof"] == "none"
    assert not [name for name in found if name.startswith("prediction")]


def test_values_are_foretold_by_plans_and_compared_with_returns() -> None:
    agent = river().learn(12)
    starts = agent.model.starts
    greedy, optimistic = (float(agent.planner.plan(explore=e).value(starts, 0).mean()) for e in (False, True))
    said = agent.diagnostics()["prediction of values"]
    assert f"expect a return of {greedy:.4g} without exploration and {optimistic:.4g} with it" in said
    latest = np.mean([record.ret for record in agent.history[-10:]])
    assert f"the last 10 returned {latest:.4g}" in said


def test_an_episode_is_recorded_with_the_plan_that_it_began_with() -> None:
    agent = river().learn(3)
    policy = agent.policy()
    row = agent.states.encode(0)
    found = diagnostics.metrics(agent.planner, policy, 0)
    assert found["value"] == policy.plan.value(row, 0)[0]
    assert found["begun"] == 4
    assert found["transitions"] == agent.model.n
    assert found["information_gain"] == agent.model.embeddings[0].information_gain
    assert "regret_bound" not in found
    kl = river(bonus="kl").learn(1)
    assert kl.history[0].metrics["regret_bound"] == kl.history[0].metrics["certified_regret"]


def test_nothing_pending_tells_nothing() -> None:
    agent = river(bonus="tight").learn(1)
    assert not agent.learner.pending
    assert diagnostics.evidence(agent.planner, agent.learner.pending, agent.proving) == {}


def test_an_explanation_is_of_a_step_of_the_episode() -> None:
    agent = river().learn(1)
    assert agent.explain(0, 19).step == 19
    with pytest.raises(InputError, match="step must be a whole number from 0 to 19"):
        agent.explain(0, 20)
