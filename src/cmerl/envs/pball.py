"""PBall2D: find the spot that pays in a disc, with four noisy moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.planar import DIRECTIONS, Floats, FourMoves, PlanarWorld, check_moves
from cmerl.errors import InputError
from cmerl.validation.numbers import check_number, check_pair

START = (0.0, 0.0)
BORDER_TOLERANCE = 1e-9


@dataclass(frozen=True)
class BallDynamics(FourMoves):
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
        check_moves(radius=self.radius, move=self.move, noise=self.noise)

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


class PBall2D(PlanarWorld):
    """A point in the unit disc that starts in the middle and is rewarded near an unknown spot.

    Actions 0 … 3 move by ``move`` along x+, x−, y+, y−; Gaussian noise is added to both coordinates, and the
    result is projected to the disc. A step pays max(0, 1 − ‖s − centre‖ / radius) of the state s that it
    leaves, for any action. Episodes start at N(0, 0.001² I) and neither terminate nor truncate.

    Args:
        centre: Where the reward is 1, its maximum.
        radius: Distance from the centre at which the reward vanishes.
        move: Length of a move.
        noise: Standard deviation of the noise in each coordinate.
        horizon: Suggested episode length.

    Attributes:
        dynamics: The dynamics as pure functions.
        horizon: As given.
    """

    dynamics: BallDynamics

    def __init__(
        self,
        centre: Sequence[float] = (0.75, 0.0),
        radius: float = 0.25,
        move: float = 0.05,
        noise: float = 0.01,
        horizon: int = 30,
    ) -> None:
        # A tuple of floats, as the dynamics must be hashable, and configuration files have lists.
        dynamics = BallDynamics(
            centre=check_pair("centre", centre),
            radius=check_number("radius", radius),
            move=check_number("move", move),
            noise=check_number("noise", noise),
        )
        super().__init__(dynamics, START, horizon)

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

    def _check_state(self, value: ArrayLike) -> Floats:
        point = np.array(check_pair('options["state"]', value))
        # "not (… ≤ …)" rather than "> …", so that NaN is refused as well
        if not np.linalg.norm(point) <= 1 + BORDER_TOLERANCE:
            raise InputError(f'options["state"] must lie in the unit disc, but is {value!r}.')
        return self.project(point)
