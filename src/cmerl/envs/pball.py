"""PBall2D: find the spot that pays in a disc, with four noisy moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.envs.checks import check_count, check_index, check_pair
from cmerl.errors import InputError

Floats = NDArray[np.float64]

# directions of actions 0 … 3: x+, x−, y+, y−
DIRECTIONS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

START_NOISE = 0.001
BORDER_TOLERANCE = 1e-9


@dataclass(frozen=True)
class BallDynamics:
    """The dynamics of :class:`PBall2D` as pure functions; equal parameters make equal dynamics.

    Attributes:
        centre: Where the reward is largest.
        radius: Distance from there at which it vanishes.
        move: Length of a move.
        noise: Standard deviation of the noise in each coordinate of a move.
    """

    centre: tuple[float, float] = (0.75, 0.0)
    radius: float = 0.25
    move: float = 0.05
    noise: float = 0.01

    def __post_init__(self) -> None:
        if len(self.centre) != 2 or not np.isfinite(self.centre).all():
            raise InputError(f"centre must be two finite coordinates, but is {self.centre!r}.")
        for name, value in (("radius", self.radius), ("move", self.move)):
            if not 0 < value < np.inf:
                raise InputError(f"{name} must be positive and finite, but is {value!r}.")
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise must be a finite standard deviation from 0 on, but is {self.noise!r}.")

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

    def rewards(self, states: Floats) -> Floats:
        """Rewards (n,) of any action in states (n, 2): a cone of height 1 over the disc around the centre."""
        distance = np.linalg.norm(states - np.array(self.centre), axis=-1)
        cone: Floats = np.maximum(0.0, 1.0 - distance / self.radius)
        return cone

    def mean_next(self, states: Floats, action: int) -> Floats:
        """Where ``action`` leads from states (n, 2), before noise and projection (n, 2)."""
        moved: Floats = states + self.move * DIRECTIONS[action]
        return moved

    def project(self, points: Floats) -> Floats:
        """The points (..., 2) themselves inside the unit disc, else the nearest on its border."""
        projected: Floats = points / np.maximum(1.0, np.linalg.norm(points, axis=-1, keepdims=True))
        return projected


class PBall2D(gymnasium.Env[Floats, Any]):
    """A point in the unit disc that starts at its middle and is paid near a spot it does not know.

    Actions 0 … 3 move by ``move`` along x+, x−, y+, y−; Gaussian noise is added to both coordinates, and the
    result is projected to the disc. A step pays max(0, 1 − ‖s − centre‖ / radius) of the state s that it
    leaves, whatever the action. Episodes start at N(0, 0.001² I) and neither terminate nor truncate.

    Args:
        centre: Where the reward is 1, its maximum.
        radius: Distance from the centre at which the reward vanishes.
        move: Length of a move.
        noise: Standard deviation of the noise in each coordinate.
        horizon: Suggested episode length.

    Attributes:
        dynamics: The pure functions behind it; ``rewards``, ``mean_next`` and ``project`` are theirs.
        horizon: As given.
    """

    def __init__(
        self,
        centre: Sequence[float] = (0.75, 0.0),
        radius: float = 0.25,
        move: float = 0.05,
        noise: float = 0.01,
        horizon: int = 30,
    ) -> None:
        # A tuple of floats, as the dynamics must be hashable, and configuration files have lists.
        self.dynamics = BallDynamics(check_pair("centre", centre), float(radius), float(move), float(noise))
        self.horizon = check_count("horizon", horizon)
        self.action_space = spaces.Discrete(self.dynamics.actions)
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(2,), dtype=np.float64)
        self._state: Floats | None = None

    @property
    def noise(self) -> float:
        """Standard deviation of the noise in each coordinate."""
        return self.dynamics.noise

    def rewards(self, states: Floats) -> Floats:
        """Rewards (n,) of any action in states (n, 2)."""
        return self.dynamics.rewards(states)

    def mean_next(self, states: Floats, action: int) -> Floats:
        """Where ``action`` leads from states (n, 2), before noise and projection (n, 2)."""
        return self.dynamics.mean_next(states, action)

    def project(self, points: Floats) -> Floats:
        """The points of the disc nearest to points (..., 2)."""
        return self.dynamics.project(points)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start an episode near the middle, or in ``options["state"]``, a point (x, y) of the disc."""
        super().reset(seed=seed)
        options = options or {}
        if unknown := set(options) - {"state"}:
            raise InputError(f'reset() knows only the option "state", but was given {sorted(unknown)}.')
        if "state" in options:
            self._state = self.project(_point_of_disc(options["state"]))
        else:
            self._state = self.project(START_NOISE * self.np_random.standard_normal(2))
        return self._state.copy(), {"state": self._state.copy()}

    def step(self, action: SupportsIndex) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take one action; the reward is that of the state it leaves, and both ending flags are always False."""
        a = check_index("the action", action, self.dynamics.actions)
        if self._state is None:
            raise InputError("call reset() before the first step().")
        reward = float(self.rewards(self._state[None])[0])
        mean = self.mean_next(self._state[None], a)[0]
        self._state = self.project(mean + self.noise * self.np_random.standard_normal(2))
        return self._state.copy(), reward, False, False, {"state": self._state.copy()}


def _point_of_disc(value: ArrayLike) -> Floats:
    point = np.array(check_pair('options["state"]', value))
    # "not (… ≤ …)" rather than "> …", so that NaN is refused as well
    if not np.linalg.norm(point) <= 1 + BORDER_TOLERANCE:
        raise InputError(f'options["state"] must lie in the unit disc, but is {value!r}.')
    return point
