"""PetsCartPole: the cart-pole of Chua et al. 2018 (PETS), rebuilt from its description without a simulator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.mechanics import CartPole, Floats, Mechanism, observe_cart_pole, tip_distance

LENGTH = 0.6  # of the pole, without its round ends
DENSITY = 1000.0
TRACK = 2.5
GEAR = 100.0  # newtons per unit of action


def capsule(radius: float, length: float) -> tuple[float, float]:
    """Mass and moment of inertia, about an axis across it, of a cylinder with half a ball at either end."""
    cylinder = DENSITY * math.pi * radius**2 * length
    ball = DENSITY * 4.0 / 3.0 * math.pi * radius**3
    inertia = cylinder * (length**2 / 12 + radius**2 / 4)
    inertia += ball * (2 * radius**2 / 5 + length**2 / 4 + 3 * length * radius / 8)
    return cylinder + ball, inertia


CART, _ = capsule(0.1, 0.2)
POLE, INERTIA = capsule(0.049, LENGTH)
BODY = CartPole(CART, POLE, LENGTH / 2, INERTIA, friction=1.0, hinge_friction=1.0, gravity=9.81)


class PetsCartPole(Mechanism):
    """A heavy cart-pole that starts hanging, as in the experiments of PETS.

    Cart and pole are capsules of 10.5 and 5.0 kg, both joints have a friction of 1, and actions in [−3, 3] times
    100 N are held for 0.04 s. The ends of the track, ±2.5, stop the cart without a rebound (the original's ends are
    a little soft). Observed are x, ẋ, cos θ, sin θ and θ̇, θ = 0 upright. A step pays exp(−d² / 0.6²) − 0.01·a² of
    the state that it leads to, d the distance of the pole's tip from (0, 0.6). Episodes do not end by themselves.

    Args:
        horizon: suggested episode length.
        noise: standard deviation of the observation noise.
    """

    def __init__(self, horizon: int = 200, noise: float = 0.0) -> None:
        super().__init__(
            rest=(0.0, 0.0, math.pi, 0.0),
            spread=0.1,
            most=(3.0,),
            bounds=(TRACK if noise == 0 else np.inf, np.inf, 1.0, 1.0, np.inf),
            seconds=0.04,
            substeps=2,
            noise=noise,
            horizon=horizon,
        )

    def derivative(self, state: Floats, action: Floats) -> Floats:
        """The time derivative (4,) of (x, ẋ, θ, θ̇)."""
        return BODY.derivative(state, GEAR * float(action[0]))

    def constrain(self, state: Floats) -> Floats:
        """The ends of the track stop the cart."""
        return BODY.stop(state, TRACK)

    observe = staticmethod(observe_cart_pole)

    @staticmethod
    def reward(obs: ArrayLike, action: ArrayLike, next_obs: ArrayLike) -> Any:
        """exp(−d² / 0.6²) − 0.01·a², d the tip's distance from its goal."""
        effort = np.sum(np.square(np.asarray(action, dtype=np.float64)), axis=-1)
        return np.exp(-((tip_distance(next_obs, LENGTH) / LENGTH) ** 2)) - 0.01 * effort
