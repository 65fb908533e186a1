"""LC3: near the Riccati optimum on a linear system, its estimate by least squares, its radius by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmerl.agents.baselines.lc3 import LC3, lc3_radius
from cmerl.envs import LinearQuadratic, Regulator
from cmerl.errors import InputError
from cmerl.oracles import evaluate, solve


def costly_tanks() -> LinearQuadratic:
    """Actions are cheap, so that doing nothing is far from the best."""
    return LinearQuadratic(A=((0.6, 0.1), (0.2, 0.6)), R=((0.3,),), start=(0.4, 0.8), horizon=8)


def test_it_approaches_the_riccati_optimum() -> None:
    env = costly_tanks()
    solution = solve(env, 8)
    lazy = solution.value(env.start) - evaluate(env, 0 * solution.K, 8).value(env.start)
    agent = LC3(env, seed=0, samples=100, rounds=8).learn(10)
    late = np.mean([record.regret for record in agent.history[-4:]])
    assert late < 0.15 * lazy
    found = agent.predict(env.start, 0, explore=False)
    np.testing.assert_allclose(found, -solution.K[0] @ env.start, atol=0.08)


def test_the_estimate_is_least_squares() -> None:
    agent = LC3(costly_tanks(), seed=1, samples=8, rounds=2).learn(4)
    X = np.vstack([agent.phi(e.states, e.actions) for e in agent.log])
    Y = np.vstack([e.next_states for e in agent.log]) - 0.5  # the origin, on observations scaled to [0, 1]
    ridge = np.vstack([X, math.sqrt(agent.lam) * np.eye(4)])
    best = np.linalg.lstsq(ridge, np.vstack([Y, np.zeros((4, 2))]), rcond=None)[0]
    (W,) = agent.model_draws(explore=False)
    np.testing.assert_allclose(W, best, atol=1e-9)
    np.testing.assert_allclose(agent.residual(W), np.sqrt(((Y - X @ W) ** 2).sum(axis=0) / (len(X) - 4)), rtol=1e-6)


def test_drawn_models_have_the_posteriors_covariance() -> None:
    agent = LC3(costly_tanks(), seed=1, samples=8, rounds=2).learn(3)
    (W,) = agent.model_draws(explore=False)
    record, drawn = agent.history[-1], []
    for _ in range(4000):
        drawn.append(agent.model_draws(explore=True)[0][:, 0])
        agent.history.append(record)
    want = agent.residual(W)[0] ** 2 * np.linalg.inv(agent.precision)
    np.testing.assert_allclose(np.cov(np.array(drawn).T), want, atol=0.08 * np.abs(want).max())


def test_with_the_papers_constants_models_lie_on_the_border_of_the_ball() -> None:
    agent = LC3(costly_tanks(), seed=1, samples=8, rounds=2, theory=True, models=3).learn(2)
    (W,) = agent.model_draws(explore=False)
    log_det = np.linalg.slogdet(agent.precision)[1]
    radius = lc3_radius(log_det, lam=0.01, size=4, dims=2, norm=1.0, noise=0.1, episode=3)
    want = 2 * 0.01 + 8 * 0.01 * (2 * math.log(5) + 2 * math.log(3) + math.log(4) + log_det - 4 * math.log(0.01))
    assert radius**2 == pytest.approx(want)
    for drawn in agent.model_draws(explore=True):
        error = drawn - W
        assert np.trace(error.T @ agent.precision @ error) == pytest.approx(radius**2)


@pytest.mark.parametrize("dims", [1, 2, 4, 12])
@pytest.mark.parametrize("episode", [2, 3, 10, 1000])
def test_the_papers_ball_is_large_enough(dims: int, episode: int) -> None:
    """‖(W − W̄)Σ^{1/2}‖² ≤ 2λ‖W‖² + 2‖noise‖², and the noise is bounded on a net of directions of the state.

    A net of width ε on the sphere has (1 + 2/ε)^d points, and the largest norm is 1/(1 − ε) times that on the net; in
    each direction the self-normalised bound [Abbasi-Yadkori et al. 2011] is σ²(log det(Σ/λ) + 2 log(1/δ)), here with
    δ = 1/(4t²) for all points together. The best ε asks for no more than the paper's ball has.
    """
    lam, noise, norm, steps = 0.01, 0.1, 1.0, 8 * (episode - 1)
    log_det = math.log1p(steps / lam)  # Σ with one feature that is always 1, the least that features can tell
    width = np.linspace(0.05, 0.5, 50)
    net = dims * np.log(1.0 + 2.0 / width) + math.log(4.0 * episode**2)
    needed = 2 * lam * norm**2 + 2 * noise**2 * (log_det + 2.0 * net) / (1.0 - width) ** 2
    radius = lc3_radius(log_det + math.log(lam), lam=lam, size=1, dims=dims, norm=norm, noise=noise, episode=episode)
    assert radius**2 >= needed.min()


def test_it_learns_the_operator_of_the_regulator() -> None:
    env = Regulator(start=(0.0, 0.0), horizon=12)

    def features(states, actions):
        x, v = states[:, 0], states[:, 1]
        return np.stack([x, v, np.sin(np.pi * x), actions[:, 0] - 1.0], axis=1)

    def reward(states, actions):
        return env.dynamics.rewards(states)

    agent = LC3(env, features=features, reward=reward, lam=1e-3, depth=12, samples=24, rounds=3, seed=0).learn(4)
    (found,) = agent.model_draws(explore=False)
    true = np.array(env.dynamics.W).T / 2  # observations are scaled to [0, 1], half of their range
    error = found - true
    log_det = np.linalg.slogdet(agent.precision)[1]
    norm = env.operator_norm / 2
    radius = lc3_radius(log_det, lam=1e-3, size=4, dims=2, norm=norm, noise=0.01, episode=5)
    assert np.trace(error.T @ agent.precision @ error) < radius**2
    assert np.trace(true.T @ agent.precision @ true) > radius**2  # knowing nothing would not do
    assert agent.history[-1].ret > 0.6 * solve(env, 12).value(env.start)


def test_functions_are_asked_for_again(tmp_path) -> None:
    agent = LC3(costly_tanks(), reward=lambda s, a: -(s**2).sum(axis=1), samples=8, rounds=2).learn(1)
    agent.save(tmp_path / "agent")
    with pytest.raises(InputError, match="pass reward="):
        LC3.load(tmp_path / "agent", agent.env)
    loaded = LC3.load(tmp_path / "agent", agent.env, reward=agent.reward)
    np.testing.assert_array_equal(loaded.predict(agent.env.start), agent.predict(agent.env.start))
