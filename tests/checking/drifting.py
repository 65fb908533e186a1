"""A sound environment to plant faults in."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces


class Sound(gymnasium.Env):
    """A point that drifts on [0, 1]² with seeded noise and is paid for where it is; subclasses plant faults."""

    observation_space = spaces.Box(0.0, 1.0, (2,), np.float64)
    action_space = spaces.Discrete(2)
    horizon = 30

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        self.x = np.array([0.5, 0.5])
        return self.observe(), {}

    def step(self, action):
        self.count += 1
        self.x = np.clip(self.x + 0.1 * (2 * action - 1) * self.push() + 0.02 * self.noise(), 0.0, 1.0)
        return self.observe(), self.reward(), False, False, {}

    def push(self):
        return np.array([1.0, 0.3])

    def noise(self):
        return self.np_random.normal(size=2)

    def observe(self):
        return self.x.copy()

    def reward(self):
        return float(self.x[0])


class NanLater(Sound):
    def observe(self):
        return self.x * np.nan if self.count > 11 else self.x.copy()


class NeverPays(Sound):
    def reward(self):
        return 0.0


class Wide(Sound):
    observation_space = spaces.Box(0.0, 1.0, (31,), np.float64)

    def observe(self):
        return np.resize(self.x, 31)
