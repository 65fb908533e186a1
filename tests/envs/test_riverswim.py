"""RiverSwim against its published tables."""

import numpy as np
import pytest

from cmerl.envs import RiverSwim
from cmerl.errors import InputError
from cmerl.oracles import solve


class TestRiverSwim:
    def test_transitions(self):
        P = RiverSwim().P
        assert P.shape == (6, 2, 6)
        np.testing.assert_array_equal(P[:, 0].argmax(axis=1), [0, 0, 1, 2, 3, 4])
        np.testing.assert_array_equal(P[:, 0].max(axis=1), 1.0)
        np.testing.assert_array_equal(P[0, 1], [0.4, 0.6, 0, 0, 0, 0])
        np.testing.assert_array_equal(P[3, 1], [0, 0, 0.05, 0.6, 0.35, 0])
        np.testing.assert_array_equal(P[5, 1], [0, 0, 0, 0, 0.4, 0.6])

    def test_rewards(self):
        expected = np.zeros((6, 2))
        expected[0, 0], expected[5, 1] = 0.005, 1.0
        np.testing.assert_array_equal(RiverSwim().R, expected)

    def test_optimal_value(self):
        env = RiverSwim()
        assert env.horizon == 20
        assert round(solve(env, 20).value(0), 4) == 3.3973

    def test_two_banks_are_a_river(self):
        np.testing.assert_array_equal(RiverSwim(states=2).P[:, 1], [[0.4, 0.6], [0.4, 0.6]])

    def test_one_bank_is_not(self):
        with pytest.raises(InputError, match="states must be an integer of at least 2"):
            RiverSwim(states=1)
