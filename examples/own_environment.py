"""An environment of your own, learned in eight episodes, and its policy as a file."""

from pathlib import Path
from tempfile import mkdtemp

import gymnasium
import numpy as np
from gymnasium import spaces

import cmerl


class Room(gymnasium.Env):
    """A heater with three settings in a room that loses heat; 21 °C at little power is best."""

    observation_space = spaces.Box(0.0, 40.0, (1,), np.float64)
    action_space = spaces.Discrete(3)
    horizon = 24

    def reset(self, *, seed=None, options=None):
        """A cold room."""
        super().reset(seed=seed)
        self.temperature = self.np_random.uniform(8.0, 12.0)
        return np.array([self.temperature]), {}

    def step(self, action):
        """One hour."""
        outside = 5.0 + self.np_random.normal()
        self.temperature += 0.1 * (outside - self.temperature) + 1.5 * action
        reward = -abs(self.temperature - 21.0) - 0.2 * action
        return np.array([self.temperature]), float(reward), False, False, {}


agent = cmerl.CMERL(Room(), seed=0, model="direct").learn(8)
print("returns:", [round(record.ret) for record in agent.history])

policy = agent.policy(explore=False)
file = Path(mkdtemp()) / "room.policy"
policy.export(file)
print(f"the policy takes {file.stat().st_size / 1000:.0f} kB; at 10 °C it plays", cmerl.load_policy(file)([10.0], 0))
