"""PilcoDoublePendulum: two links, a torque on each, of Deisenroth & Rasmussen (PILCO), with its saturating cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.mechanics import Floats, Mechanism

MASS, LENGTH, GRAVITY = 0.5, 0.5, 9.82  # of either link, a uniform rod
INERTIA = MASS * LENGTH**2 / 12
WIDTH = 0.5  # of the cost


def derivative(state: Floats, torques: ArrayLike) -> Floats:
    """The time derivative (..., 4) of (θ₁, θ₂, θ̇₁, θ̇₂), both angles from the upright.

    Either torque turns its own link only, as in the paper's equations.
    """
    inner, outer, turn1, turn2 = np.moveaxis(state, -1, 0)
    torque1, torque2 = np.moveaxis(np.asarray(torques, dtype=np.float64), -1, 0)
    between = inner - outer
    coupling = MASS * LENGTH**2 / 2 * np.cos(between)
    swing1, swing2 = INERTIA + 5 / 4 * MASS * LENGTH**2, INERTIA + MASS * LENGTH**2 / 4
    bend = MASS * LENGTH**2 / 2 * np.sin(between)
    pull1 = torque1 + 3 / 2 * MASS * LENGTH * GRAVITY * np.sin(inner) - bend * turn2**2
    pull2 = torque2 + 1 / 2 * MASS * LENGTH * GRAVITY * np.sin(outer) + bend * turn1**2
    determinant = swing1 * swing2 - coupling**2
    angular1 = (swing2 * pull1 - coupling * pull2) / determinant
    angular2 = (swing1 * pull2 - coupling * pull1) / determinant
    return np.stack([turn1, turn2, angular1, angular2], axis=-1)


class PilcoDoublePendulum(Mechanism):
    """Two rods of 0.5 kg and 0.5 m that start hanging: swing both up and keep them there.

    Torques up to 2 Nm on each rod are held for 0.1 s: too weak to lift them at once. There is no friction. Observed
    are cos θ₁, sin θ₁, cos θ₂, sin θ₂, θ̇₁, θ̇₂, angles 0 upright. A step pays 1 minus PILCO's saturating cost,
    exp(−d² / (2·0.5²)), d the distance of the outer tip from (0, 1), of the state that it leads to.

    Args:
        horizon: suggested episode length.
        noise: standard deviation of the noise on every observed state variable; 0.01 in the authors' software.
    """

    variables = "θ₁, θ₂, θ̇₁, θ̇₂"

    def __init__(self, horizon: int = 50, noise: float = 0.0) -> None:
        super().__init__(
            rest=(math.pi, math.pi, 0.0, 0.0),
            spread=(0.01, 0.01, 0.1, 0.1),
            most=(2.0, 2.0),
            bounds=(1.0, 1.0, 1.0, 1.0, np.inf, np.inf),
            seconds=0.1,
            substeps=10,
            noise=noise,
            horizon=horizon,
        )

    def derivative(self, state: Floats, action: Floats) -> Floats:
        """The time derivative (4,) of (θ₁, θ₂, θ̇₁, θ̇₂)."""
        return derivative(state, action)

    @staticmethod
    def observe(state: Floats) -> Floats:
        """Cos θ₁, sin θ₁, cos θ₂, sin θ₂, θ̇₁, θ̇₂ (..., 6)."""
        inner, outer, turn1, turn2 = np.moveaxis(state, -1, 0)
        return np.stack([np.cos(inner), np.sin(inner), np.cos(outer), np.sin(outer), turn1, turn2], axis=-1)

    @staticmethod
    def reward(obs: ArrayLike, action: ArrayLike, next_obs: ArrayLike) -> Any:
        """exp(−d² / (2·0.5²)), d the outer tip's distance from its goal."""
        seen = np.asarray(next_obs, dtype=np.float64)
        up = LENGTH * (seen[..., 0] + seen[..., 2] - 2.0)
        aside = LENGTH * (seen[..., 1] + seen[..., 3])
        return np.exp(-0.5 * (up**2 + aside**2) / WIDTH**2)
