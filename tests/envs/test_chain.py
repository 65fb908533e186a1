"""Chain: its moves and its best policy."""

import numpy as np
import pytest

from cmerl.envs import Chain
from cmerl.errors import InputError
from cmerl.oracles import solve


class TestChain:
    def test_a_slip_has_the_other_actions_whole_effect(self):
        env = Chain()
        np.testing.assert_allclose(env.P[1], [[0.2, 0, 0.8, 0, 0], [0.8, 0, 0.2, 0, 0]], atol=1e-15)
        np.testing.assert_allclose(env.P[4], [[0.2, 0, 0, 0, 0.8], [0.8, 0, 0, 0, 0.2]], atol=1e-15)
        np.testing.assert_allclose(env.R[1], [0.2 * 0.2, 0.8 * 0.2])
        np.testing.assert_allclose(env.R[4], [0.8 * 1 + 0.2 * 0.2, 0.2 * 1 + 0.8 * 0.2])

    def test_without_slips_the_end_is_reached_and_kept(self):
        assert solve(Chain(slip=0.0), 10).value(0) == 6.0  # four steps unpaid, six paid

    def test_long_run_average_of_going_forward(self):
        # The last link needs four moves without a slip, 0.8⁴ of the time; there a step pays 0.8, and each
        # slip anywhere pays 0.2: the 3.677 that the literature quotes for rewards ten times ours.
        V = solve(Chain(), 1000).V
        assert V[0, 0] - V[1, 0] == pytest.approx(0.8**5 + 0.2 * 0.2, abs=1e-12)

    def test_slip_is_a_probability(self):
        with pytest.raises(InputError, match="slip must be a probability"):
            Chain(slip=1.1)
