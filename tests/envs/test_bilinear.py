"""Bilinear: its core and its law."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.envs import Bilinear
from cmerl.errors import InputError
from cmerl.kernels import Delta, Linear, StateAction
from cmerl.oracles import operator_norm, solve


class TestBilinear:
    def test_law_and_rewards_are_linear_in_the_features(self) -> None:
        env = Bilinear(seed=2)
        np.testing.assert_allclose(np.einsum("sad,de,te->sat", env.phi, env.core, env.psi), env.P, atol=1e-12)
        np.testing.assert_allclose(env.phi @ env.reward_weights, env.R, atol=1e-15)
        assert env.R.min() >= 0.0
        assert env.R.max() <= 1.0

    def test_the_norm_of_its_operator(self) -> None:
        env = Bilinear(seed=2)
        flat = env.phi.reshape(24, -1)
        assert env.operator_norm == pytest.approx(operator_norm(env.P, flat @ flat.T, np.eye(12)))

    def test_with_coordinates_the_linear_kernel_has_its_features(self) -> None:
        env = Bilinear(coordinates=True)
        Z = np.hstack([np.repeat(env.observations, 2, axis=0), np.tile([[0.0], [1.0]], (12, 1))])
        flat = env.phi.reshape(24, -1)
        np.testing.assert_allclose(StateAction(Linear(), Delta())(Z), flat @ flat.T, atol=1e-12)
        # Observations are not scaled: they fill [0, 1] already.
        np.testing.assert_array_equal([env.observation_space.low, env.observation_space.high], [[0] * 3, [1] * 3])

    def test_v_star(self) -> None:
        assert round(solve(Bilinear(), 8).value(0), 4) == 2.8463

    def test_more_anchors_than_states_are_refused(self) -> None:
        with pytest.raises(InputError, match="have more states"):
            Bilinear(states=3, anchors=4)
