"""PilcoCartPole: the cart-pole swing-up of Deisenroth & Rasmussen 2011 (PILCO), with its saturating cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.mechanics import CartPole, Floats, Mechanism, observe_cart_pole, tip_distance

LENGTH = 0.5
WIDTH = 0.25  # of the cost
BODY = CartPole(0.5, 0.5, LENGTH / 2, 0.5 * LENGTH**2 / 12, friction=0.1, gravity=9.82)


class PilcoCartPole(Mechanism):
    """A cart and a uniform rod, each of 0.5 kg, that starts hanging: swing it up and keep it over the middle.

    The rod is 0.5 m long, the cart has a friction of 0.1 and no ends to its track; forces up to 10 N are held for
    0.1 s. Observed are x, ẋ, cos θ, sin θ and θ̇, θ = 0 upright. A step pays 1 minus PILCO's saturating cost,
    exp(−d² / (2·0.25²)), d the distance of the rod's tip from (0, 0.5), of the state that it leads to.

    Args:
        horizon: suggested episode length.
        noise: standard deviation of the noise on every observed state variable; 0.01 in the authors' software.
    """

    def __init__(self, horizon: int = 40, noise: float = 0.0) -> None:
        super().__init__(
            rest=(0.0, 0.0, math.pi, 0.0),
            spread=0.1,
            most=(10.0,),
            bounds=(np.inf, np.inf, 1.0, 1.0, np.inf),
            seconds=0.1,
            substeps=10,
            noise=noise,
            horizon=horizon,
        )

    def derivative(self, state: Floats, action: Floats) -> Floats:
        """The time derivative (4,) of (x, ẋ, θ, θ̇)."""
        return BODY.derivative(state, float(action[0]))

    observe = staticmethod(observe_cart_pole)

    @staticmethod
    def reward(obs: ArrayLike, action: ArrayLike, next_obs: ArrayLike) -> Any:
        """exp(−d² / (2·0.25²)), d the tip's distance from its goal."""
        return np.exp(-0.5 * (tip_distance(next_obs, LENGTH) / WIDTH) ** 2)
