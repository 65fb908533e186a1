"""Worlds with a known transition operator: their structure, and its norm computed in two ways."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Bilinear, LinearMixture, LinearQuadratic, Regulator
from cmerl.errors import InputError
from cmerl.oracles import operator_norm


@pytest.mark.parametrize("env", [LinearMixture(), Bilinear(), Bilinear(coordinates=True), Regulator()])
def test_gymnasiums_checker_has_no_complaint(env) -> None:
    check_env(env, skip_render_check=True)


class TestOperatorNorm:
    def test_delta_kernels_give_the_table(self) -> None:
        env = LinearMixture(5, 2, seed=1)
        assert operator_norm(env.P, np.eye(10), np.eye(5)) == pytest.approx(np.linalg.norm(env.P))

    def test_any_kernels_by_an_explicit_operator(self) -> None:
        # In coordinates φ(z) = rows of a root of K_φ, Θ solves Θφ(z) = Σ P(s'|z)ψ(s') exactly.
        env, rng = LinearMixture(4, 2, seed=1), np.random.default_rng(0)
        K_phi, K_psi = (M @ M.T for M in (rng.standard_normal((8, 8)), rng.standard_normal((4, 4))))
        phi, psi = np.linalg.cholesky(K_phi), np.linalg.cholesky(K_psi)
        theta = np.linalg.solve(phi, env.P.reshape(8, 4) @ psi)
        assert operator_norm(env.P, K_phi, K_psi) == pytest.approx(np.linalg.norm(theta), rel=1e-6)

    def test_a_law_that_is_not_linear_in_the_features_has_none(self) -> None:
        env = LinearMixture(4, 2, seed=1)
        with pytest.raises(InputError, match="not linear in the features"):
            operator_norm(env.P, np.ones((8, 8)), np.eye(4))
        with pytest.raises(InputError, match="have others"):
            operator_norm(env.P, np.eye(7), np.eye(4))


def test_the_linear_quadratic_operator_is_that_of_linear_kernels() -> None:
    env, rng = LinearQuadratic(), np.random.default_rng(0)
    z = rng.standard_normal((50, 3))
    mean = z[:, :2] @ env.dynamics.A.T + z[:, 2:] @ env.dynamics.B.T
    assert env.operator_norm == pytest.approx(np.linalg.norm(np.linalg.lstsq(z, mean, rcond=None)[0]))
