"""Provable modes on worlds whose operator, and so B_P, is known: the set covers the truth and Q is optimistic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl import CMERL, ConditionalMeanEmbedding
from cmerl.confidence.radii import tight_radius
from cmerl.envs import Bilinear, LinearMixture, Regulator
from cmerl.kernels import Delta, Linear, StateAction
from cmerl.oracles import solve


def q_table(agent: CMERL, env) -> np.ndarray:
    return np.array([[agent.q_values(obs, h) for obs in env.observations] for h in range(agent.horizon)])


@pytest.mark.parametrize("bonus", ["tight", "split"])
def test_a_bilinear_world_with_its_own_features(bonus: str) -> None:
    env = Bilinear(coordinates=True, horizon=4)
    kernel = StateAction(Linear(radius=1.0), Delta())
    reward = {tuple(obs): row for obs, row in zip(env.observations, env.R, strict=True)}
    agent = CMERL(
        env,
        kernel=kernel,
        value_kernel=Delta(),
        bonus=bonus,
        B_P=env.operator_norm,
        B_V=4 * math.sqrt(12),
        reward=lambda obs, a: reward[tuple(obs)][a],
        reward_range=(0.0, 1.0),
        states=env.observations,
        certify=False,
        seed=0,
    )
    optimum = solve(env, 4).Q
    for _ in range(4):
        agent.learn(10)
        assert (q_table(agent, env) >= optimum - 1e-9).all()
    assert agent.embedding.n == 160
    # The event behind it, in the coordinates of the features: ‖(Θ̂ − Θ_P)M^{1/2}‖ ≤ β with the true B_P.
    E = agent.embedding
    Z = np.hstack([np.repeat(env.observations, 2, axis=0), np.tile([[0.0], [1.0]], (12, 1))])
    counts, flat = E.visit_counts(Z), env.phi.reshape(24, -1)
    means = np.zeros((24, 12))
    for j, state in enumerate(np.asarray(E.support)):
        means[:, np.argmin(np.abs(env.observations - state).sum(axis=1))] += E.weights(Z)[:, j]
    M = flat.T @ np.diag(counts) @ flat + E.lam * np.eye(6)
    theta = np.linalg.lstsq(flat, means, rcond=None)[0]
    error = theta - env.core @ env.psi.T
    distance = math.sqrt(np.trace(error.T @ M @ error))
    radius = tight_radius(E.sum_r, lam=E.lam, B_P=env.operator_norm, D=math.sqrt(2), delta=0.05)
    assert distance <= radius
    assert np.linalg.norm(env.core @ env.psi.T @ np.eye(12)) == pytest.approx(env.operator_norm)


def test_a_constant_that_is_far_too_small_breaks_optimism() -> None:
    env = Bilinear(coordinates=True, horizon=4)
    reward = {tuple(obs): row for obs, row in zip(env.observations, env.R, strict=True)}
    agent = CMERL(
        env,
        kernel=StateAction(Linear(radius=1.0), Delta()),
        value_kernel=Delta(),
        bonus="tight",
        B_P=1e-6,
        B_V=1e-3,
        reward=lambda obs, a: reward[tuple(obs)][a],
        reward_range=(0.0, 1.0),
        states=env.observations,
        certify=False,
    ).learn(5)
    assert (q_table(agent, env) < solve(env, 4).Q - 1e-3).any()


@pytest.mark.parametrize("bonus", ["tight", "split"])
def test_a_linear_mixture_with_delta_kernels(bonus: str) -> None:
    env = LinearMixture(5, 2, seed=1, horizon=4)
    agent = CMERL(env, bonus=bonus, B_P=env.operator_norm, reward=lambda s, a: env.R[s, a], reward_range=(0.0, 1.0))
    agent.learn(40)
    assert all(record.metrics["in_set"] and record.metrics["optimistic"] for record in agent.history)
    assert (q_table(agent, env) >= solve(env, 4).Q - 1e-9).all()


def test_the_tight_radius_covers_the_operator_of_the_regulator() -> None:
    # Features of state-actions, linear kernel on states: Θ_P = W. States lie in [−1, 1]², so D = 2√2.
    env, failures = Regulator(horizon=20), 0
    W = np.array(env.dynamics.W)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        obs, X, Y = env.reset(seed=seed)[0], [], []
        for _ in range(60):
            a = int(rng.integers(3))
            X.append(env.dynamics.features(obs[None], a)[0])
            obs = env.step(a)[0]
            Y.append(obs)
        X, Y = np.array(X), np.array(Y)
        cme = ConditionalMeanEmbedding(Linear(radius=2.0), lam=1.0).update(X, Y)
        radius = tight_radius(cme.sum_r, lam=1.0, B_P=env.operator_norm, D=2 * math.sqrt(2), delta=0.1)
        M = X.T @ X + np.eye(4)
        error = np.linalg.solve(M, X.T @ Y).T - W
        distance = math.sqrt(np.trace(error @ M @ error.T))
        failures += distance > radius
        # The embedding is this regression: its weights average next states to Ŵφ.
        np.testing.assert_allclose(cme.weights(X[:3]) @ Y, X[:3] @ np.linalg.solve(M, X.T @ Y), atol=1e-9)
    assert failures <= 2
