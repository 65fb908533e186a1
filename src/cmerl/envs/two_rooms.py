"""TwoRooms: a small reward near the start, a large one in the next room, four noisy moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.envs.checks import check_count, check_index, check_pair
from cmerl.envs.pball import DIRECTIONS, START_NOISE
from cmerl.errors import InputError

Floats = NDArray[np.float64]

START = (-0.5, -0.5)
GOAL = (0.6, 0.5)


@dataclass(frozen=True)
class RoomDynamics:
    """The dynamics of :class:`TwoRooms` as pure functions; equal parameters make equal dynamics.

    Attributes:
        door: Lowest and highest y of the door.
        wall: Half the thickness of the wall around x = 0, so much that neither a move nor noise crosses it.
        distractor: Where the small reward is largest, in the first room.
        prizes: The small reward and the large one, at their largest.
        radius: Distance at which they vanish.
        move: Length of a move.
        noise: Standard deviation of the noise in each coordinate of a move.
    """

    door: tuple[float, float] = (0.2, 0.6)
    wall: float = 0.1
    distractor: tuple[float, float] = (-0.7, -0.7)
    prizes: tuple[float, float] = (1.0, 5.0)
    radius: float = 0.4
    move: float = 0.1
    noise: float = 0.02

    def __post_init__(self) -> None:
        if not -1 <= self.door[0] < self.door[1] <= 1:
            raise InputError(f"door must be two coordinates y in [−1, 1], the lower one first, but is {self.door!r}.")
        for name, value in (("radius", self.radius), ("move", self.move)):
            if not 0 < value < np.inf:
                raise InputError(f"{name} must be positive and finite, but is {value!r}.")
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise must be a finite standard deviation from 0 on, but is {self.noise!r}.")
        if not max(self.move / 2, 4 * self.noise) <= self.wall < 0.5:
            raise InputError(
                f"wall must be at least half a move and four times the noise, and below 0.5, but is {self.wall!r}."
            )

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
        """Rewards (n,) of any action in states (n, 2): a cone over each of the two spots."""
        spots = np.array([self.distractor, GOAL])
        distance = np.linalg.norm(states[..., None, :] - spots, axis=-1)
        paid: Floats = np.maximum(0.0, 1.0 - distance / self.radius) @ np.array(self.prizes)
        return paid

    def mean_next(self, states: Floats, action: int) -> Floats:
        """Where ``action`` leads from states (n, 2), before noise and projection: not into the wall (n, 2)."""
        moved: Floats = states + self.move * DIRECTIONS[action]
        stopped = np.where(states[:, 0] < 0, -self.wall, self.wall), np.clip(moved[:, 1], *self.door)
        axis = int(np.flatnonzero(DIRECTIONS[action])[0])
        moved[:, axis] = np.where(self._solid(moved), stopped[axis], moved[:, axis])
        return moved

    def project(self, points: Floats) -> Floats:
        """The points (..., 2) themselves in the rooms and the door, else the nearest that are."""
        inside: Floats = np.clip(points, -1.0, 1.0)
        x, y = inside[..., 0], inside[..., 1]
        to_room, to_door = self.wall - abs(x), abs(np.clip(y, *self.door) - y)
        sideways = self._solid(inside) & (to_room <= to_door)
        upright = self._solid(inside) & (to_room > to_door)
        x = np.where(sideways, np.where(x < 0, -self.wall, self.wall), x)
        y = np.where(upright, np.clip(y, *self.door), y)
        return np.stack([x, y], axis=-1)

    def _solid(self, points: Floats) -> NDArray[np.bool]:
        """Whether points (..., 2) lie within the wall (...)."""
        x, y = points[..., 0], points[..., 1]
        found: NDArray[np.bool] = (abs(x) < self.wall) & ((y < self.door[0]) | (y > self.door[1]))
        return found


class TwoRooms(gymnasium.Env[Floats, Any]):
    """A square that a wall with a door divides: the first room pays a little, the second a lot.

    Actions 0 … 3 move by ``move`` along x+, x−, y+, y−; Gaussian noise is added to both coordinates, and walls stop
    the point. A step pays for the state s that it leaves: prize · max(0, 1 − ‖s − spot‖ / ``radius``) for the spot of
    either room. Episodes start near (−0.5, −0.5), beside the small prize, and neither terminate nor truncate.

    Args:
        door: Lowest and highest y of the door.
        wall: Half the thickness of the wall.
        distractor: Where the small prize is.
        prizes: The small one and the large one, which is at (0.6, 0.5).
        radius: Distance from a prize at which it vanishes.
        move: Length of a move.
        noise: Standard deviation of the noise in each coordinate.
        horizon: Suggested episode length.

    Attributes:
        dynamics: The pure functions behind it.
        horizon: As given.
    """

    def __init__(
        self,
        door: Sequence[float] = (0.2, 0.6),
        wall: float = 0.1,
        distractor: Sequence[float] = (-0.7, -0.7),
        prizes: Sequence[float] = (1.0, 5.0),
        radius: float = 0.4,
        move: float = 0.1,
        noise: float = 0.02,
        horizon: int = 50,
    ) -> None:
        self.dynamics = RoomDynamics(
            door=check_pair("door", door),
            wall=float(wall),
            distractor=check_pair("distractor", distractor),
            prizes=check_pair("prizes", prizes),
            radius=float(radius),
            move=float(move),
            noise=float(noise),
        )
        self.horizon = check_count("horizon", horizon)
        self.action_space = spaces.Discrete(self.dynamics.actions)
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(2,), dtype=np.float64)
        self._state: Floats | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start an episode near (−0.5, −0.5), or in ``options["state"]``, a point (x, y) outside the wall."""
        super().reset(seed=seed)
        options = options or {}
        if unknown := set(options) - {"state"}:
            raise InputError(f'reset() knows only the option "state", but was given {sorted(unknown)}.')
        if "state" in options:
            self._state = self._check_state(options["state"])
        else:
            self._state = self.dynamics.project(START + START_NOISE * self.np_random.standard_normal(2))
        return self._state.copy(), {"state": self._state.copy()}

    def _check_state(self, value: ArrayLike) -> Floats:
        point = np.array(check_pair('options["state"]', value))
        if not (self.dynamics.project(point) == point).all():
            raise InputError(f'options["state"] must lie in one of the rooms or the door, but is {value!r}.')
        return point

    def step(self, action: SupportsIndex) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take one action; the reward is that of the state it leaves, and both ending flags are always False."""
        a = check_index("the action", action, self.dynamics.actions)
        if self._state is None:
            raise InputError("call reset() before the first step().")
        reward = float(self.dynamics.rewards(self._state[None])[0])
        mean = self.dynamics.mean_next(self._state[None], a)[0]
        self._state = self.dynamics.project(mean + self.dynamics.noise * self.np_random.standard_normal(2))
        return self._state.copy(), reward, False, False, {"state": self._state.copy()}
