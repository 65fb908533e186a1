"""The base of environments in which a point makes four noisy moves in the square [−1, 1]²."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.oracles.grid import SmoothModel
from cmerl.validation.episodes import check_options
from cmerl.validation.numbers import check_count, check_index

Floats = NDArray[np.float64]

# directions of actions 0 … 3: x+, x−, y+, y−
DIRECTIONS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

START_NOISE = 0.001


class FourMoves:
    """The square and the actions, for the dynamics of such an environment."""

    @property
    def low(self) -> tuple[float, ...]:
        """Smallest coordinates."""
        return (-1.0, -1.0)

    @property
    def high(self) -> tuple[float, ...]:
        """Largest coordinates."""
        return (1.0, 1.0)

    @property
    def actions(self) -> int:
        """Number of actions."""
        return len(DIRECTIONS)


def check_moves(*, radius: float, move: float, noise: float) -> None:
    """Refuse lengths that are none: the radius of a prize, the length of a move, and the deviation of its noise."""
    for name, value in (("radius", radius), ("move", move)):
        if not 0 < value < np.inf:
            raise InputError(f"{name} must be positive and finite, but is {value!r}.")
    if not 0 <= noise < np.inf:
        raise InputError(f"noise must be a finite standard deviation of at least 0, but is {noise!r}.")


class PlanarWorld(gymnasium.Env[Floats, Any]):
    """A point that four noisy moves push around, and that is paid for where it is.

    Args:
        dynamics: The pure functions behind it.
        start: Episodes start at N(start, 0.001² I).
        horizon: Suggested episode length.

    Attributes:
        dynamics: As given; likewise the horizon.
    """

    def __init__(self, dynamics: SmoothModel, start: tuple[float, float], horizon: int) -> None:
        self.dynamics = dynamics
        self.horizon = check_count("horizon", horizon)
        self.action_space = spaces.Discrete(dynamics.actions)
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(2,), dtype=np.float64)
        self._start = start
        self._state: Floats | None = None

    @abstractmethod
    def _check_state(self, value: ArrayLike) -> Floats:
        """A state (2,) that a user asks for, or an error."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start an episode near where all start, or in ``options["state"]``, a point (x, y) of the environment."""
        super().reset(seed=seed)
        options = check_options(options)
        if "state" in options:
            self._state = self._check_state(options["state"])
        else:
            self._state = self.dynamics.project(self._start + START_NOISE * self.np_random.standard_normal(2))
        return self._state.copy(), {"state": self._state.copy()}

    def step(self, action: SupportsIndex) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take one action; the reward is that of the state it leaves, and both ending flags are always False."""
        a = check_index("the action", action, self.dynamics.actions)
        if self._state is None:
            raise InputError("call reset() before the first step().")
        reward = float(self.dynamics.rewards(self._state[None])[0])
        mean = self.dynamics.mean_next(self._state[None], a)[0]
        self._state = self.dynamics.project(mean + self.dynamics.noise * self.np_random.standard_normal(2))
        return self._state.copy(), reward, False, False, {"state": self._state.copy()}
