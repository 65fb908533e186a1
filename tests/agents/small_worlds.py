"""Small environments that several tests of agents share."""

from __future__ import annotations

import time

import gymnasium
import numpy as np

from cmerl.envs import FiniteMDP, RiverSwim


class Recorder(gymnasium.Wrapper):
    """Writes down every episode: (observation, action, reward) of each step."""

    def __init__(self, env):
        super().__init__(env)
        self.episodes = []

    def reset(self, **options):
        self.obs, info = self.env.reset(**options)
        self.episodes.append([])
        return self.obs, info

    def step(self, action):
        obs, reward, *rest = self.env.step(action)
        self.episodes[-1].append((self.obs, action, reward))
        self.obs = obs
        return obs, reward, *rest


def river(horizon=8):
    return RiverSwim(5, horizon)


def smooth_river():
    return RiverSwim(5, 8, coordinates=True)


class Unknown(gymnasium.Env):
    """Two states, no model to be seen; may end or be cut after ``length`` steps."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, length=None, cut=False):
        self.length, self.cut = length, cut

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        over = self.steps == self.length
        return int(action), float(action), over and not self.cut, over and self.cut, {}


class Plane(gymnasium.Env):
    """A walk whose observation is one and the same array all the time."""

    def __init__(self, shared: bool = True) -> None:
        self.observation_space = gymnasium.spaces.Box(-2, 2, (2,), dtype=np.float64)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.x, self.shared, self.pause, self.reward, self.odd = np.zeros(2), shared, 0.0, None, None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x[:] = 0.0
        return self._seen(), {}

    def _seen(self):
        return self.x if self.shared else self.x.copy()

    def step(self, action):
        time.sleep(self.pause)
        self.x += 0.1 * (2 * action - 1) + 0.01 * self.np_random.normal(size=2)
        obs = self._seen() if self.odd is None else np.array(self.odd)
        return obs, float(self.x[0]) if self.reward is None else self.reward, False, False, {}


def jackpot(**options):
    """A step in a hundred leads to where rewards are 500."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[1, :, 1] = 1.0
    P[0, 1] = [0.99, 0.01]
    return FiniteMDP(P, [[0.1, 0.1], [500.0, 500.0]], horizon=4, **options)


def bandit_like(horizon=2):
    """Two states, known rewards, and little to learn: bounds become small in a hundred episodes."""
    P = np.array([[[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]])
    return FiniteMDP(P, np.array([[0.0, 0.0], [1.0, 1.0]]), horizon=horizon)


class Line(gymnasium.Env):
    """A point that is pushed along a line; it pays to be far right."""

    observation_space = gymnasium.spaces.Box(-3.0, 3.0, (1,), dtype=np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), dtype=np.float64)
    columns = ("place",)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-0.1, 0.1, 1)
        return self.x.copy(), {}

    def step(self, action):
        self.x = np.clip(self.x + 0.2 * np.clip(action, -1, 1), -3, 3)
        return self.x.copy(), float(self.x[0] + 3) / 6, False, False, {"wear": float(abs(action[0]))}


def home(obs, step):
    """A controller that holds the middle, and moves about it a little."""
    return np.clip(2.0 * (0.3 * np.sin(step) - obs), -1, 1)
