"""IGP-UCB is GP-UCB with its own β; scikit-learn has the Gaussian process."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as SklearnRBF

from cmerl.agents.baselines.igp_ucb import IGPUCB
from cmerl.envs import FiniteMDP, LinearQuadratic
from cmerl.kernels import RBF


class Bandit(gymnasium.Env):
    """A bumpy function of one action, seen with noise."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
    horizon = 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.array([0.5]), {}

    def step(self, action):
        mean = 0.5 + 0.4 * np.sin(4 * float(action[0]))
        return np.array([0.5]), mean + 0.1 * self.np_random.uniform(-1, 1), True, False, {}


def test_it_is_gp_ucb_with_its_beta() -> None:
    agent = IGPUCB(Bandit(), kernel=RBF(0.4), theory=True, lam=0.7, norm=1.3, noise=0.2, delta=0.05).learn(15)
    X = np.vstack([data.transitions.Z for data in agent.log])
    y = np.concatenate([data.rewards for data in agent.log])
    process = GaussianProcessRegressor(SklearnRBF(0.4), alpha=0.7, optimizer=None).fit(X, y)
    queries = np.hstack([np.full((len(agent.actions), 1), 0.5), agent.actions.rows])
    mean, sigma = process.predict(queries, return_std=True)
    gain = 0.5 * np.linalg.slogdet(np.eye(15) + SklearnRBF(0.4)(X) / 0.7)[1]
    beta = 1.3 + 0.2 * math.sqrt(2 * (gain + 1 + math.log(20)))
    np.testing.assert_allclose(agent.q_values([0.5]), mean + beta * sigma, rtol=1e-7)
    np.testing.assert_allclose(agent.q_values([0.5], explore=False), mean, rtol=1e-7)


def test_it_finds_the_top() -> None:
    agent = IGPUCB(Bandit(), kernel=RBF(0.3), seed=0).learn(60)
    assert abs(float(agent.predict(np.array([0.5]), explore=False)[0]) - np.pi / 8) < 0.15


def test_it_looks_one_step_ahead_whatever_the_horizon() -> None:
    assert IGPUCB(LinearQuadratic()).horizon == 1
    # Action 1 pays nothing now and leads to riches: a bandit does not see them.
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[0, 1, 1] = P[1, :, 1] = 1.0
    agent = IGPUCB(FiniteMDP(P, np.array([[0.3, 0.0], [1.0, 1.0]])), horizon=4, seed=0).learn(20)
    assert [agent.predict(0, step, explore=False) for step in range(4)] == [0, 0, 0, 0]
