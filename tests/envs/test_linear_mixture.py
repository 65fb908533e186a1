"""LinearMixture: its features and its law."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.envs import LinearMixture
from cmerl.errors import InputError
from cmerl.oracles import operator_norm, solve


class TestLinearMixture:
    def test_it_mixes(self) -> None:
        env = LinearMixture(5, 2, theta=(0.2, 0.8), seed=4)
        np.testing.assert_allclose(env.P, 0.2 * env.basis[0] + 0.8 * env.basis[1], atol=1e-15)
        np.testing.assert_allclose(env.basis.sum(axis=3), 1.0)
        assert env.operator_norm == pytest.approx(operator_norm(env.P, np.eye(10), np.eye(5)))

    def test_v_star(self) -> None:
        assert round(solve(LinearMixture(), 10).value(0), 4) == 3.4306

    @pytest.mark.parametrize("theta", [(0.5, 0.6), (1.5, -0.5), ((1.0,),)])
    def test_weights_must_be_a_law(self, theta) -> None:
        with pytest.raises(InputError, match="theta must be non-negative weights"):
            LinearMixture(theta=theta)
