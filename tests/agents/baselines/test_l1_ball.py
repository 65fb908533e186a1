"""The largest mean over an L1 ball of laws, against linear programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cmerl.agents.baselines import l1_ball


@pytest.mark.parametrize("seed", range(8))
def test_the_l1_ball_against_a_linear_program(seed: int, by_linear_program: Any) -> None:
    rng = np.random.default_rng(seed)
    p, v = rng.dirichlet(np.full(5, 0.4)), rng.normal(size=5)
    if seed % 2:
        p[int(v.argmax())] = 0.0  # the best state was never seen
        p /= p.sum()
    for radius in (0.0, 0.1, 0.7, 1.9, 5.0):
        # The agent gives the seen atoms in any order, and the best value of all.
        seen = np.flatnonzero(p)
        mine = l1_ball.largest_mean(p[seen], v[seen], float(v.max()), np.array(radius))
        assert mine == pytest.approx(by_linear_program(p, v, radius), abs=1e-8)
