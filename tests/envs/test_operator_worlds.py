"""Worlds with a known transition operator: their structure, and its norm computed in two ways."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cmerl.envs import Bilinear, LinearMixture, LinearQuadratic, Regulator
from cmerl.errors import InputError
from cmerl.kernels import Delta, Linear, StateAction
from cmerl.oracles import operator_norm, solve


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


class TestRegulator:
    def test_the_mean_is_linear_in_the_features_everywhere(self) -> None:
        env = Regulator()
        for state, action in (((1.0, 1.0), 2), ((-1.0, -1.0), 0), ((0.2, -0.7), 1)):
            met = []
            for seed in range(2500):
                env.reset(seed=seed, options={"state": state})
                met.append(env.step(action)[0])
            x, v = state
            phi = np.array([x, v, np.sin(np.pi * x), action - 1.0])
            np.testing.assert_allclose(np.mean(met, axis=0), np.array(env.dynamics.W) @ phi, atol=0.0015)
            np.testing.assert_allclose(np.std(met, axis=0), 0.02, rtol=0.08)

    def test_the_norm_of_its_operator_is_what_least_squares_find(self) -> None:
        env, rng = Regulator(), np.random.default_rng(0)
        states, actions = rng.uniform(-1, 1, (300, 2)), rng.integers(3, size=300)
        phi = np.vstack([env.dynamics.features(s[None], a) for s, a in zip(states, actions, strict=True)])
        mean = np.vstack([env.dynamics.mean_next(s[None], a) for s, a in zip(states, actions, strict=True)])
        found = np.linalg.lstsq(phi, mean, rcond=None)[0]
        assert env.operator_norm == pytest.approx(np.linalg.norm(found))

    def test_playing_the_oracles_policy_earns_what_it_says(self) -> None:
        env = Regulator(horizon=15, start=(0.0, 0.0))
        solution = solve(env, 15)
        returns = []
        for seed in range(200):
            obs, total = env.reset(seed=seed)[0], 0.0
            for step in range(15):
                obs, reward, *_ = env.step(int(np.argmax(solution.q(obs, step))))
                total += reward
            returns.append(total)
        error = np.std(returns) / np.sqrt(200)
        assert abs(np.mean(returns) - solution.value(env.start)) < 4 * error + 0.02 * solution.value(env.start)

    def test_what_would_leave_the_square_is_refused(self) -> None:
        with pytest.raises(InputError, match="outside of the square"):
            Regulator(noise=0.1)
        with pytest.raises(InputError, match="W must be a finite array"):
            Regulator(W=np.eye(2))
        with pytest.raises(InputError, match="must lie in the square"):
            Regulator(start=(2.0, 0.0))


def test_the_linear_quadratic_operator_is_that_of_linear_kernels() -> None:
    env, rng = LinearQuadratic(), np.random.default_rng(0)
    z = rng.standard_normal((50, 3))
    mean = z[:, :2] @ env.dynamics.A.T + z[:, 2:] @ env.dynamics.B.T
    assert env.operator_norm == pytest.approx(np.linalg.norm(np.linalg.lstsq(z, mean, rcond=None)[0]))
