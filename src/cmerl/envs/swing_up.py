"""CartPoleSwingUp: a pole that hangs from a cart is to be swung up and balanced by pushing the cart."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.envs.checks import check_count, check_number, check_options
from cmerl.errors import InputError

Floats = NDArray[np.float64]

GRAVITY = 9.8
CART, POLE = 1.0, 0.1  # masses
LENGTH = 0.5  # from the pivot to the pole's centre of mass
TRACK = 2.4  # the cart runs from −TRACK to TRACK
SECONDS = 0.04  # of a step
START_NOISE = 0.02


def acceleration(state: Floats, force: float) -> Floats:
    """The time derivative (4,) of (x, ẋ, θ, θ̇), θ from the upright, of a uniform pole on a cart without friction."""
    _, speed, angle, turn = state
    sin, cos = np.sin(angle), np.cos(angle)
    push = (force + POLE * LENGTH * turn**2 * sin) / (CART + POLE)
    angular = (GRAVITY * sin - cos * push) / (LENGTH * (4.0 / 3.0 - POLE * cos**2 / (CART + POLE)))
    return np.array([speed, push - POLE * LENGTH * angular * cos / (CART + POLE), turn, angular])


def move(state: Floats, force: float, seconds: float = SECONDS) -> Floats:
    """The state (4,) after a constant force for some time, by one classical Runge–Kutta step."""
    k1 = acceleration(state, force)
    k2 = acceleration(state + seconds / 2 * k1, force)
    k3 = acceleration(state + seconds / 2 * k2, force)
    k4 = acceleration(state + seconds * k3, force)
    moved: Floats = state + seconds / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return moved


def reward(state: Floats) -> float:
    """From 0 to 1: how far up the pole is, times how far from the track's ends the cart is."""
    x, _, angle, _ = state
    return float((1.0 + np.cos(angle)) / 2.0 * max(0.0, 1.0 - (x / TRACK) ** 2))


class CartPoleSwingUp(gymnasium.Env[Floats, Any]):
    """A cart-pole that starts with its pole hanging down.

    The equations are those of the classic cart-pole. Actions in [−1, 1] are shares of ``force``, held for 0.04 s;
    observed are x, ẋ, cos θ, sin θ and θ̇ (θ = 0 upright). A step pays (1 + cos θ) / 2 · (1 − (x / 2.4)²) of the state
    that it leads to, and leaving the track, ±2.4, ends the episode: hanging pays nothing, and a pole that is kept
    turning about half of what a balanced one does.

    Args:
        force: The strongest push, in newtons.
        horizon: Suggested episode length.

    Attributes:
        horizon: As given.
    """

    def __init__(self, force: float = 10.0, horizon: int = 150) -> None:
        self.force, self.horizon = check_number("force", force), check_count("horizon", horizon)
        if not 0 < self.force < np.inf:
            raise InputError(f"force must be positive and finite, but is {force!r}.")
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float64)
        high = np.array([np.inf, np.inf, 1.0, 1.0, np.inf])
        self.observation_space = spaces.Box(-high, high, dtype=np.float64)
        self._state: Floats | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start with the pole down, nearly at rest, or in ``options["state"]``, (x, ẋ, θ, θ̇)."""
        super().reset(seed=seed)
        options = check_options(options)
        if "state" in options:
            self._state = _check_state(options["state"])
        else:
            self._state = np.array([0.0, 0.0, np.pi, 0.0]) + START_NOISE * self.np_random.standard_normal(4)
        return self._observe(), {"state": self._state.copy()}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Push for one step; the episode ends when the cart has left the track."""
        push = np.asarray(action, dtype=np.float64)
        if push.shape != (1,) or not abs(push[0]) <= 1.0:
            raise InputError(f"the action must be one number in [−1, 1], as an array (1,), but is {action!r}.")
        if self._state is None:
            raise InputError("call reset() before the first step().")
        self._state = move(self._state, self.force * float(push[0]))
        ended = bool(abs(self._state[0]) > TRACK)
        return self._observe(), reward(self._state), ended, False, {"state": self._state.copy()}

    def _observe(self) -> Floats:
        assert self._state is not None
        x, speed, angle, turn = self._state
        return np.array([x, speed, np.cos(angle), np.sin(angle), turn])


def _check_state(value: ArrayLike) -> Floats:
    try:
        state = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        state = np.full(4, np.nan)
    if state.shape != (4,) or not np.isfinite(state).all() or not abs(state[0]) <= TRACK:
        raise InputError(f'options["state"] must be (x, ẋ, θ, θ̇), finite and on the track, but is {value!r}.')
    return state
