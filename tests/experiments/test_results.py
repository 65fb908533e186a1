"""Results of a run: a frame of its episodes, and agents rebuilt from their journals."""

from __future__ import annotations

import gymnasium
import pytest

import cmerl
from cmerl import experiments
from cmerl.errors import InputError


def test_a_frame_has_a_row_for_each_episode_and_metrics_as_columns(one_job: experiments.Results) -> None:
    frame = one_job.frame()
    assert len(frame) == 48
    assert {"env", "agent", "seed", "episode", "return", "regret", "optimum", "information_gain"} <= set(
        frame.columns
    )
    assert frame[frame.agent == "split"]["information_gain"].notna().all()


def test_an_agent_comes_back_from_its_journal_at_any_episode(one_job: experiments.Results) -> None:
    env = gymnasium.make("cmerl/Chain-v0", states=4)
    alone = cmerl.agents.make("cme-rl", env, seed=5, bonus="split").learn(4)
    found = one_job.agent("chain", "split", 5, episodes=4)
    assert len(found.history) == 4
    assert isinstance(found, cmerl.CMERL)
    assert isinstance(alone, cmerl.CMERL)
    assert found.q_values(2, 1).tolist() == alone.q_values(2, 1).tolist()
    with pytest.raises(InputError, match="no unit of 'chain', 'split' and seed 4"):
        one_job.agent("chain", "split", 4)
