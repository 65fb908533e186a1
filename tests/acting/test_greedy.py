"""Acting greedily: the best candidate of a plan, and nothing else."""

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.acting import Greedy


def test_it_plays_the_candidate_of_the_largest_q():
    agent = CMERL(gymnasium.make("cmerl/PBall2D-v0"), horizon=8, seed=0, model="direct").learn(4)
    plan, rows = agent.policy().plan, np.array([[5.0], [7.0], [9.0], [11.0], [13.0]])[: len(agent.actions)]
    actor = Greedy().begin_episode(plan, rows, (1, 2))
    differs = set()
    for state in np.random.default_rng(0).random((20, 1, 2)):
        for step in (0, 3, 7):
            q, chosen = plan.q(state, step)[0], int(np.flatnonzero(rows == actor.act(state, step))[0])
            assert q[chosen] == pytest.approx(q.max(), abs=1e-8)  # a tie may be broken either way
            differs.add(chosen)
    assert len(differs) > 1
