"""The cross-entropy method finds the top of a hill."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.baselines.sampling_planner import CrossEntropy


def test_the_search_finds_the_top_of_a_hill() -> None:
    target = np.array([[0.3, -0.2], [0.9, 0.0], [-0.5, 0.5]])
    rng = np.random.default_rng(0)
    best, most = CrossEntropy(samples=100, iterations=12).search(
        lambda rows: -((rows - target) ** 2).sum(axis=(1, 2)), 3, 2, None, rng
    )
    np.testing.assert_allclose(best, target, atol=0.1)
    assert most == pytest.approx(-((best - target) ** 2).sum())
    finite = np.array([[-1.0], [0.0], [1.0]])
    pattern = finite[[0, 2, 1, 2]]
    best, _ = CrossEntropy().search(lambda rows: -((rows - pattern) ** 2).sum(axis=(1, 2)), 4, 1, finite, rng)
    np.testing.assert_array_equal(best, pattern)
