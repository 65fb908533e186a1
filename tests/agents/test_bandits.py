"""One step: CME-RL is then a kernelised bandit, and does what IGP-UCB does [Chowdhury and Gopalan 2017]."""

import math

import gymnasium
import numpy as np
import pytest

from cmerl import CMERL
from cmerl.kernels import RBF, Delta, StateAction

ARMS = np.linspace(0.0, 1.0, 25)[:, None].astype(np.float32)
NOISE, LAM, DELTA, WIDTH = 0.1, 1.0, 0.1, 0.2


def forrester(x):
    """A standard test function, (6x − 2)² sin(12x − 4), scaled into [0.1, 0.9]; its maximum lies at 1."""
    y = (6 * x - 2) ** 2 * np.sin(12 * x - 4)
    return 0.1 + 0.8 * (y + 6.1) / (15.9 + 6.1)


class Bandit(gymnasium.Env):
    """One state, one step, arms in [0, 1], rewards of two values so that they stay in [0, 1]."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Box(0.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        self.last = float(np.ravel(action)[0])
        return 0, float(forrester(self.last) + self.np_random.choice([-NOISE, NOISE])), False, False, {}


def make(bonus="tight", reward="learned", B_R=3.0, **options):
    kernel = StateAction(Delta(), RBF(WIDTH))
    constants = {"B_P": 2.0, "B_V": 1.0, "B_R": B_R}
    return CMERL(
        Bandit(), horizon=1, kernel=kernel, value_kernel=Delta(), actions=list(ARMS), lam=LAM, delta=DELTA,
        bonus=bonus, reward=reward, reward_range=(0, 1), **constants, **options,
    )  # fmt: skip


def rows(agent):
    """The arms as the agent's kernel sees them."""
    return np.asarray(agent.actions.rows)


def igp_ucb(agent, data, B_R):
    """Upper confidence bounds (A,) of kernel ridge regression, clipped to the range of rewards."""
    X, y = (np.array(column) for column in zip(*data, strict=True))
    scale = rows(agent)
    Xe = np.array([scale[int(np.argmin(np.abs(ARMS[:, 0] - x)))] for x in X])
    K, k, prior = RBF(WIDTH)(Xe), RBF(WIDTH)(Xe, scale), np.ones(len(scale))
    inverse = np.linalg.inv(K + LAM * np.eye(len(K)))
    gain = 0.5 * np.linalg.slogdet(np.eye(len(K)) + K / LAM)[1]
    beta = math.sqrt(LAM) * B_R + 0.5 * math.sqrt(2 * (gain + math.log(3 / DELTA)))
    sigma = np.sqrt(prior - np.einsum("ia,ij,ja->a", k, inverse, k))
    return np.clip(k.T @ inverse @ y + beta / math.sqrt(LAM) * sigma, 0.0, 1.0)


def test_with_one_step_and_an_unknown_reward_it_is_kernel_ucb_and_finds_the_best_arm():
    values = forrester(ARMS[:, 0].astype(float))
    agent, data, lost = make(seed=1, B_R=0.1), [], []
    for episode in range(250):
        agent.learn(1)
        data.append((agent.env.last, agent.history[-1].ret))
        lost.append(values.max() - forrester(agent.env.last))
        if episode % 50 == 49:
            np.testing.assert_allclose(agent.q_values(0), igp_ucb(agent, data, 0.1), atol=1e-9)
    assert np.any(agent.q_values(0) < 0.9)  # not all at the clip
    uniform = values.max() - values.mean()
    assert np.mean(lost[-60:]) < 0.5 * np.mean(lost[:60])
    assert np.mean(lost[-60:]) < 0.5 * uniform
    # What it would choose now is what IGP-UCB's estimate says is best, and it is nearly the best arm.
    greedy = float(np.ravel(agent.policy(explore=False)(0, 0))[0])
    assert values.max() - forrester(greedy) < 0.1 * uniform


@pytest.mark.parametrize("bonus", ["tight", "split"])
def test_with_one_step_and_a_known_reward_nothing_is_left_to_learn(bonus):
    agent = make(bonus, reward=lambda s, a: forrester(float(np.ravel(a)[0])), seed=0)
    np.testing.assert_allclose(agent.q_values(0), forrester(ARMS[:, 0].astype(float)), atol=1e-6)
