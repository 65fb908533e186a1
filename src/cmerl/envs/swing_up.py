"""CartPoleSwingUp: a pole that hangs from a cart is to be swung up and balanced by pushing the cart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cmerl.envs.mechanics import CartPole, Floats, Mechanism, observe_cart_pole
from cmerl.errors import InputError
from cmerl.validation.numbers import check_number

TRACK = 2.4  # the cart runs from −TRACK to TRACK
BODY = CartPole(1.0, 0.1, 0.5, 0.1 * 1.0**2 / 12, gravity=9.8)  # a uniform pole of a metre


class CartPoleSwingUp(Mechanism):
    """A cart-pole that starts with its pole hanging down.

    The equations are those of the classic cart-pole. Actions in [−1, 1] are shares of ``force``, held for 0.04 s;
    observed are x, ẋ, cos θ, sin θ and θ̇ (θ = 0 upright). A step pays (1 + cos θ) / 2 · (1 − (x / 2.4)²) of the
    state that it leads to, and leaving the track, ±2.4, terminates the episode. Hanging pays nothing; a spinning pole
    earns about half of what a balanced one does.

    Args:
        force: The strongest push, in newtons.
        horizon: Suggested episode length.
        noise: Standard deviation of the noise on every observed state variable.

    Attributes:
        force: As given.
    """

    def __init__(self, force: float = 10.0, horizon: int = 150, noise: float = 0.0) -> None:
        self.force = check_number("force", force)
        if not 0 < self.force < np.inf:
            raise InputError(f"force must be positive and finite, but is {force!r}.")
        super().__init__(
            rest=(0.0, 0.0, math.pi, 0.0),
            spread=0.02,
            most=(1.0,),
            bounds=(np.inf, np.inf, 1.0, 1.0, np.inf),
            seconds=0.04,
            substeps=1,
            noise=noise,
            horizon=horizon,
        )

    def derivative(self, state: Floats, action: Floats) -> Floats:
        """The time derivative (4,) of (x, ẋ, θ, θ̇)."""
        return BODY.derivative(state, self.force * float(action[0]))

    def ended(self, state: Floats) -> bool:
        """Whether the cart has left the track."""
        return bool(abs(state[0]) > TRACK)

    observe = staticmethod(observe_cart_pole)

    @staticmethod
    def reward(obs: ArrayLike, action: ArrayLike, next_obs: ArrayLike) -> Any:
        """From 0 to 1: how far up the pole is, times how far from the track's ends the cart is."""
        seen = np.asarray(next_obs, dtype=np.float64)
        return (1.0 + seen[..., 2]) / 2.0 * np.maximum(0.0, 1.0 - (seen[..., 0] / TRACK) ** 2)
