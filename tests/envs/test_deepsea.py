"""DeepSea: one way down that pays."""

import numpy as np
import pytest

from cmerl.envs import DeepSea
from cmerl.errors import InputError
from cmerl.oracles import solve


def moves(env, cell, action):
    """The distribution over next cells, without zeros."""
    row = env.P[env.cells.index(cell), action]
    return {env.cells[t]: pytest.approx(row[t], abs=1e-12) for t in np.flatnonzero(row)}


class TestDeepSea:
    @pytest.mark.parametrize("depth", [1, 2, 5])
    def test_exactly_one_sequence_of_actions_is_paid(self, depth):
        env = DeepSea(depth=depth)
        returns = {}
        for code in range(2**depth):
            actions = [code >> i & 1 for i in range(depth)]
            env.reset(seed=0)
            returns[tuple(actions)] = sum(env.step(a)[1] for a in actions)
            assert env.state == len(env.cells)  # the absorbing state
        assert [actions for actions, total in returns.items() if total] == [(1,) * depth]
        assert returns[(1,) * depth] == 1.0

    def test_moves_sink_one_row_and_stop_at_the_left_edge(self):
        env = DeepSea(depth=4)
        assert moves(env, (1, 1), 1) == {(2, 2): 1.0}
        assert moves(env, (1, 1), 0) == {(2, 0): 1.0}
        assert moves(env, (1, 0), 0) == {(2, 0): 1.0}

    def test_the_floor_absorbs_and_pays_nothing(self):
        env = DeepSea(depth=3, move_cost=0.3)
        np.testing.assert_array_equal(env.P[-1, :, -1], 1.0)
        np.testing.assert_array_equal(env.R[-1], 0.0)

    def test_moving_right_all_the_way_costs_move_cost(self):
        env = DeepSea(depth=5, move_cost=0.2)
        assert env.horizon == 5
        np.testing.assert_allclose(env.R[0], [0.0, -0.04])
        assert solve(env, 5).value(0) == pytest.approx(0.8)
        assert solve(DeepSea(depth=5, move_cost=1.5), 5).value(0) == 0.0  # then going left is better

    def test_options_are_checked(self):
        with pytest.raises(InputError, match="depth"):
            DeepSea(depth=0)
        with pytest.raises(InputError, match="move_cost"):
            DeepSea(move_cost=float("nan"))
