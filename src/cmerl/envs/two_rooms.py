"""TwoRooms: a small reward near the start, a large one in the next room, four noisy moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.envs.planar import DIRECTIONS, Floats, FourMoves, PlanarWorld, check_moves
from cmerl.errors import InputError
from cmerl.validation.numbers import check_number, check_pair

START = (-0.5, -0.5)
GOAL = (0.6, 0.5)


@dataclass(frozen=True)
class RoomDynamics(FourMoves):
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
        check_moves(radius=self.radius, move=self.move, noise=self.noise)
        if not max(self.move / 2, 4 * self.noise) <= self.wall < 0.5:
            raise InputError(
                f"wall must be at least half a move and four times the noise, and below 0.5, but is {self.wall!r}."
            )

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


class TwoRooms(PlanarWorld):
    """Two rooms with a door: the first pays a little, the second a lot.

    Actions 0 … 3 move by ``move`` along x+, x−, y+, y−; Gaussian noise is added to both coordinates, and walls stop
    the point. A step pays for the state s that it leaves: prize · max(0, 1 − ‖s − spot‖ / ``radius``) for the spot of
    either room. Episodes start near (−0.5, −0.5), near the small prize, and neither terminate nor truncate.

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

    dynamics: RoomDynamics

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
        dynamics = RoomDynamics(
            door=check_pair("door", door),
            wall=check_number("wall", wall),
            distractor=check_pair("distractor", distractor),
            prizes=check_pair("prizes", prizes),
            radius=check_number("radius", radius),
            move=check_number("move", move),
            noise=check_number("noise", noise),
        )
        super().__init__(dynamics, START, horizon)

    def _check_state(self, value: ArrayLike) -> Floats:
        point = np.array(check_pair('options["state"]', value))
        if not (self.dynamics.project(point) == point).all():
            raise InputError(f'options["state"] must lie in one of the rooms or the door, but is {value!r}.')
        return point
