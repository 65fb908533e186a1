"""Queries: answers of the present plan in the environment's units, and nothing changes by asking."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.errors import InputError


@pytest.fixture(scope="module")
def agent() -> CMERL:
    return CMERL(gymnasium.make("cmerl/RiverSwim-v0"), seed=0, lam=0.25).learn(30)


def test_the_best_action_is_where_q_is_largest(agent: CMERL) -> None:
    for state in range(6):
        for step in (0, 10, 19):
            q = agent.q_values(state, step)
            assert q[agent.predict(state, step)] == pytest.approx(q.max(), abs=1e-6)


def test_with_delta_kernels_an_expectation_is_a_mean_with_lam_visits_to_nothing(agent: CMERL) -> None:
    Z = np.concatenate([batch.Z for _, batch in agent.model.batches])
    Y = np.concatenate([np.asarray(batch.next_states) for _, batch in agent.model.batches])[:, 0]
    for state in (0, 1, 2):
        for action in (0, 1):
            seen = Y[(Z[:, 0] == state) & (Z[:, 1] == action)]
            expected = np.sum(np.sin(seen)) / (len(seen) + 0.25)
            asked = np.array([[float(state), float(action)]])
            found = agent.embedding.expectation(lambda s: np.sin(np.asarray(s)[:, 0]), asked)
            np.testing.assert_allclose(found, [expected], atol=1e-9)


def test_what_was_told_is_what_is_said(agent: CMERL) -> None:
    assert agent.lam == 0.25
    assert agent.label == agent.mode.name == "practical"
    assert agent.reward_range == agent.rewards.bounds
    assert agent.kernel == agent.embedding.kernel
    assert agent.diagnostics()["transitions"] == agent.model.n


def test_an_explanation_adds_up_to_q(agent: CMERL) -> None:
    told = agent.explain(1, step=3)
    q = agent.q_values(1, step=3)
    for part, value in zip(told.actions, q, strict=True):
        assert part.expected_reward + part.expected_value + part.optimism == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("step", [-1, 20])
def test_a_step_outside_of_the_episode_is_refused(agent: CMERL, step: int) -> None:
    with pytest.raises(InputError, match="step"):
        agent.q_values(0, step)
