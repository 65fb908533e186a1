"""Reward surprise: new rewards against their predictions, in units of the variance of those learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cmerl.embedding import DisplacementEmbedding
from cmerl.embedding.displacement.reward_surprise import misjudges_rewards
from cmerl.transitions import Transitions


def walk(seed: int) -> Transitions:
    rng = np.random.default_rng(seed)
    x, a = rng.random((100, 1)), rng.integers(2, size=(100, 1))
    return Transitions.of(np.hstack([x, a]), x + 0.05 * a, np.sin(3.0 * x[:, 0]))


def test_rewards_are_misjudged_if_the_squared_error_exceeds_the_variance_so_many_times() -> None:
    model = DisplacementEmbedding(np.arange(2.0)[:, None], categorical=True)
    model.update(walk(0))
    batch = model.units.motion(walk(1))
    assert not misjudges_rewards(model.dynamics, batch, most=0.01)
    off = replace(batch, r=batch.r + 2.0 * np.std(model.data.rewards))  # four times the variance
    assert misjudges_rewards(model.dynamics, off, most=3.8)
    assert not misjudges_rewards(model.dynamics, off, most=4.2)
    last = replace(off, ended=np.ones(100, dtype=bool))
    assert not misjudges_rewards(model.dynamics, last, most=0.0)  # ends are predicted elsewhere
