"""Saving: every state of an agent comes back bit for bit, and what a file cannot hold is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.acting import Greedy
from cmerl.errors import InputError


def river() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("cmerl/RiverSwim-v0")


def test_transitions_that_wait_to_be_learned_are_saved_with_their_information(tmp_path: Path) -> None:
    agent = CMERL(river(), seed=0).learn(150)
    assert len(agent.learner.pending) > 0  # after a thousand transitions, a little may wait
    agent.save(tmp_path / "agent")
    again = CMERL.load(tmp_path / "agent", env=river())
    assert again.learner.pending.surprise == agent.learner.pending.surprise
    np.testing.assert_array_equal(again.learner.pending.state_actions, agent.learner.pending.state_actions)
    assert [r.ret for r in again.learn(20).history] == [r.ret for r in agent.learn(20).history]
    np.testing.assert_array_equal(again.q_values(2), agent.q_values(2))


def test_an_agent_is_saved_inside_a_series_of_episodes_without_harm(tmp_path: Path) -> None:
    agent, other = CMERL(river(), seed=1), CMERL(river(), seed=1)
    for i in range(4):
        agent.learn(2)
        agent.save(tmp_path / f"{i}")
    assert [r.ret for r in agent.history] == [r.ret for r in other.learn(8).history]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: gymnasium.make("cmerl/GridWorld-v0"), "observations are not those"),
        (lambda: gymnasium.make("cmerl/RiverSwim-v0", states=9), "observations are not those"),
    ],
    ids=["another world", "another size"],
)
def test_an_environment_of_another_kind_is_refused(change: Any, says: str, tmp_path: Path) -> None:
    CMERL(river(), seed=0).learn(1).save(tmp_path / "agent")
    with pytest.raises(InputError, match=says):
        CMERL.load(tmp_path / "agent", env=change())


def test_a_reward_function_is_passed_again_and_nothing_else_is_taken(tmp_path: Path) -> None:
    def paid(state: int, action: int) -> float:
        return float(state == 5)

    agent = CMERL(river(), seed=0, reward=paid).learn(2)
    agent.save(tmp_path / "agent")
    with pytest.raises(InputError, match="reward function, which is not saved"):
        CMERL.load(tmp_path / "agent", env=river())
    with pytest.raises(InputError, match="load takes no lam"):
        CMERL.load(tmp_path / "agent", env=river(), reward=paid, lam=3.0)
    again = CMERL.load(tmp_path / "agent", env=river(), reward=paid)
    np.testing.assert_array_equal(again.q_values(3), agent.q_values(3))


def test_parts_of_ones_own_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="parts of your own \\(actor\\)"):
        CMERL(river(), seed=0, actor=Greedy()).learn(1).save(tmp_path / "agent")
