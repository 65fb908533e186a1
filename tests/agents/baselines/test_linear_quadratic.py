"""Certainty-equivalent and optimistic linear-quadratic control against the Riccati optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.linear_quadratic import CertaintyEquivalentLQ, OptimisticLQ, lq_radius
from cmerl.envs import LinearQuadratic
from cmerl.oracles import solve


@pytest.mark.parametrize("kind", [CertaintyEquivalentLQ, OptimisticLQ])
def test_they_learn_the_system_its_costs_and_its_gains(kind) -> None:
    env = LinearQuadratic(horizon=10)
    agent = kind(env, seed=0).learn(25)
    found, true = agent.estimate(), env.dynamics
    np.testing.assert_allclose(found.Q, true.Q, atol=1e-5)
    np.testing.assert_allclose(found.R, true.R, atol=1e-5)
    np.testing.assert_allclose(found.A, true.A, atol=0.06)
    np.testing.assert_allclose(found.B, true.B, atol=0.06)
    np.testing.assert_allclose(agent.policy(explore=False).K, solve(env, 10).K, atol=0.05)
    assert agent.history[-1].regret < 0.3


def test_optimism_takes_the_most_promising_model_of_the_set() -> None:
    env = LinearQuadratic(horizon=10)
    agent = OptimisticLQ(env, seed=0, theory=True).learn(3)
    chosen, found = agent.chosen_model(explore=True), agent.estimate()
    start = agent.latest_start
    assert solve(chosen, 10).value(start) > solve(found, 10).value(start)
    error = np.hstack([chosen.A - found.A, chosen.B - found.B]).T
    log_det = np.linalg.slogdet(agent.precision)[1]
    radius = lq_radius(log_det, lam=0.01, rows=3, dims=2, norm=1.0, noise=0.1, delta=0.1)
    assert np.trace(error.T @ agent.precision @ error) == pytest.approx(radius**2)
    want = 0.1 * math.sqrt(4 * math.log(math.sqrt(math.exp(log_det) / 0.01**3) / 0.1)) + 0.1
    assert radius == pytest.approx(want)


def test_noise_on_actions_fades() -> None:
    agent = CertaintyEquivalentLQ(LinearQuadratic(), seed=0)
    first = np.abs(agent.policy().extra).mean()
    agent.learn(80)
    assert 0.2 * first < np.abs(agent.policy().extra).mean() < 0.6 * first
    assert np.abs(agent.policy(explore=False).extra).max() == 0.0
    assert np.abs(CertaintyEquivalentLQ(LinearQuadratic(), bonus_scale=0.0).policy().extra).max() == 0.0
