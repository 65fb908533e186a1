"""What kernel agents share: one embedding or one for each step, the default ridge, the gain of counts."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines.kovi import KOVI
from cmerl.envs import RandomMDP


@pytest.mark.parametrize("time_homogeneous", [True, False])
def test_the_information_gain_of_delta_kernels_is_a_sum_over_counts(time_homogeneous: bool) -> None:
    # det(I + K/λ) = Π(1 + N/λ) over state-actions; with a law for each step the largest of all counts.
    agent = KOVI(RandomMDP(3, 2, seed=1, horizon=4), lam=0.3, time_homogeneous=time_homogeneous, seed=0).learn(12)
    N = np.zeros((4, 3, 2))
    for data in agent.log:
        np.add.at(N, (np.arange(4), data.states[:, 0].astype(int), data.actions[:, 0].astype(int)), 1.0)
    if time_homogeneous:
        N = N.sum(axis=0, keepdims=True)
    gains = 0.5 * np.log1p(N / 0.3).sum(axis=(1, 2))
    assert agent.information_gain == pytest.approx(gains.max())
    assert len(gains) == 1 or np.ptp(gains) > 0


def test_the_ridge_and_the_law_for_each_step_follow_the_constants() -> None:
    practical, theory = (KOVI(RandomMDP(3, 2, seed=1), theory=theory) for theory in (False, True))
    assert (practical.lam, practical.time_homogeneous) == (0.01, True)
    assert (theory.lam, theory.time_homogeneous) == (1.0, False)


def test_the_kernel_is_saved_with_the_agent(tmp_path) -> None:
    agent = KOVI(RandomMDP(3, 2, seed=1, horizon=4)).learn(2)
    agent.save(tmp_path / "agent")
    assert KOVI.load(tmp_path / "agent").kernel == agent.kernel
