"""Environments whose observations are samples of any space."""

from __future__ import annotations

import gymnasium
from gymnasium import spaces


class Sampled(gymnasium.Env):
    """Observations drawn from a space, a few again and again; rewards are noise."""

    def __init__(self, space, actions=None):
        self.observation_space, self.action_space, self.horizon = space, actions or spaces.Discrete(2), 4

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._draw(), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return self._draw(), float(self.np_random.random()), False, False, {}

    def _draw(self):
        self.observation_space.seed(int(self.np_random.integers(5)))
        return sample(self.observation_space)


def sample(space):
    while True:
        found = space.sample()
        if not isinstance(space, spaces.Graph) or len(found.nodes):
            if isinstance(space, spaces.Dict) and "g" in space.spaces and not len(found["g"].nodes):
                continue
            return found


RECORD = spaces.Dict(
    {"name": spaces.Text(4, charset="ab"), "stock": spaces.Box(0.0, 50.0, (1,)), "weekday": spaces.Discrete(7)}
)
