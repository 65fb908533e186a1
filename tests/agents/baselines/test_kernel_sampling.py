"""Kernel RLSVI and posterior sampling on the embedding: laws of what they draw, and that they learn."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines.embedding_sampling import EmbeddingSampling
from cmerl.agents.baselines.kernel_rlsvi import KernelRLSVI
from cmerl.envs import RiverSwim


@pytest.mark.parametrize("kind", [KernelRLSVI, EmbeddingSampling])
def test_they_swim(kind) -> None:
    agent = kind(RiverSwim(), seed=0, bonus_scale=0.5).learn(150)
    assert sum(record.regret for record in agent.history[-30:]) < 30  # 102 if it never did


@pytest.mark.parametrize("kind", [KernelRLSVI, EmbeddingSampling])
def test_a_draw_is_the_episodes_own(kind) -> None:
    agent = kind(RiverSwim(), seed=0).learn(3)
    assert agent.policy() is agent.policy()
    same = agent.q_values(3, 0)
    np.testing.assert_array_equal(kind(RiverSwim(), seed=0).learn(3).q_values(3, 0), same)
    agent.history.append(agent.history[-1])
    assert not np.array_equal(agent.q_values(3, 0), same)
