"""Template of an environment. Copy, rename, replace the dynamics, and run: python environment.py."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import cmerl


class Tank(gymnasium.Env[Any, Any]):
    """Keep the level of a tank at one half: a valve with three settings against an outflow that varies."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)  # the tightest bounds that hold
    action_space = spaces.Discrete(3)
    horizon = 20  # steps per episode, if the user does not say

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Somewhere near empty. All randomness comes from ``self.np_random``."""
        super().reset(seed=seed)
        self.level = float(self.np_random.uniform(0.0, 0.2))
        return np.array([self.level]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated (nothing can come after), truncated (cut off for time), info."""
        self.level = self.dynamics(self.level, int(action), float(self.np_random.normal()))
        reward = 1.0 - 2.0 * abs(self.level - 0.5)  # in [0, 1]: say so with reward_range=(0, 1)
        return np.array([self.level]), reward, False, False, {}

    @staticmethod
    def dynamics(level: float, action: int, noise: float) -> float:
        """The next level: a pure function, easy to test."""
        return float(np.clip(level + 0.08 * action - 0.1 * np.sqrt(level) + 0.01 * noise, 0.0, 1.0))


if __name__ == "__main__":
    report = cmerl.check_env(Tank())
    print(report)
    raise SystemExit(not report.ok)
