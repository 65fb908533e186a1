"""The base of mechanical environments: equations of motion, integrated while an action is held."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.validation.episodes import check_options
from cmerl.validation.numbers import check_count, check_number

Floats = NDArray[np.float64]
Derivative = Callable[[Floats], Floats]


def runge_kutta(derivative: Derivative, state: Floats, seconds: float) -> Floats:
    """The state (..., d) after some time, by one classical Runge–Kutta step."""
    k1 = derivative(state)
    k2 = derivative(state + seconds / 2 * k1)
    k3 = derivative(state + seconds / 2 * k2)
    k4 = derivative(state + seconds * k3)
    moved: Floats = state + seconds / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return moved


@dataclass(frozen=True)
class CartPole:
    """A pole on a hinge on a cart, by its Lagrangian.

    Attributes:
        cart: mass of the cart, in kilograms.
        pole: mass of the pole.
        centre: from the hinge to the pole's centre of mass, in metres.
        inertia: of the pole about its centre of mass.
        friction: of the cart, force per speed.
        hinge_friction: torque per turning speed.
        gravity: in metres per second squared.
    """

    cart: float
    pole: float
    centre: float
    inertia: float
    friction: float = 0.0
    hinge_friction: float = 0.0
    gravity: float = 9.81

    def derivative(self, state: Floats, force: float) -> Floats:
        """The time derivative (..., 4) of (x, ẋ, θ, θ̇), θ from the upright, under a force on the cart."""
        speed, angle, turn = state[..., 1], state[..., 2], state[..., 3]
        moment = self.pole * self.centre
        coupling = moment * np.cos(angle)
        # the two equations of motion: (cart + pole) ẍ + coupling θ̈ = push and coupling ẍ + swing θ̈ = torque
        push = force - self.friction * speed + moment * turn**2 * np.sin(angle)
        torque = moment * self.gravity * np.sin(angle) - self.hinge_friction * turn
        total, swing = self.cart + self.pole, self.inertia + self.pole * self.centre**2
        determinant = total * swing - coupling**2
        acceleration = (swing * push - coupling * torque) / determinant
        angular = (total * torque - coupling * push) / determinant
        return np.stack([speed, acceleration, turn, angular], axis=-1)

    def stop(self, state: Floats, track: float) -> Floats:
        """The state (4,) itself on the track, ±``track``; beyond it, the cart stopped by the end without a rebound.

        The end pushes the cart, not the pole, so the pole's angular momentum about the hinge stays.
        """
        if abs(state[0]) <= track:
            return state
        x, speed, angle, turn = state
        swing = self.inertia + self.pole * self.centre**2
        outward = max(0.0, speed * np.sign(x)) * np.sign(x)
        turn = turn + self.pole * self.centre * np.cos(angle) * outward / swing
        return np.array([np.sign(x) * track, speed - outward, angle, turn])


def observe_cart_pole(state: Floats) -> Floats:
    """x, ẋ, cos θ, sin θ, θ̇ (..., 5) of states (..., 4)."""
    x, speed, angle, turn = np.moveaxis(state, -1, 0)
    return np.stack([x, speed, np.cos(angle), np.sin(angle), turn], axis=-1)


def tip_distance(observations: ArrayLike, length: float) -> Floats:
    """Distances (...) of the pole's tip from its place over x = 0 when the pole stands, of observations (..., 5)."""
    seen = np.asarray(observations, dtype=np.float64)
    x, cos, sin = seen[..., 0], seen[..., 2], seen[..., 3]
    found: Floats = np.hypot(x + length * sin, length * (cos - 1.0))
    return found


class Mechanism(gymnasium.Env[Floats, Any]):
    """A mechanism that starts nearly at rest, and an action that drives it for some time.

    Args:
        rest: the state (d,) around which episodes start.
        spread: standard deviations (d,) of the start.
        most: the largest size (k,) of each action's component.
        bounds: the largest observations (o,), in size.
        seconds: that an action is held.
        substeps: steps of integration in that time.
        noise: standard deviation of the noise on every state variable that is observed; what is paid is without it.
        horizon: suggested episode length.

    Attributes:
        horizon: as given.
        variables: names of the state's variables, for messages.
    """

    variables = "x, ẋ, θ, θ̇"

    def __init__(
        self,
        *,
        rest: Sequence[float],
        spread: float | Sequence[float],
        most: Sequence[float],
        bounds: Sequence[float],
        seconds: float,
        substeps: int,
        noise: float,
        horizon: int,
    ) -> None:
        self.horizon, self.noise = check_count("horizon", horizon), check_number("noise", noise)
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise must be a finite standard deviation of at least 0, but is {noise!r}.")
        self.rest, self.spread = np.array(rest, dtype=np.float64), np.asarray(spread, dtype=np.float64)
        self.seconds, self._substeps = seconds, substeps
        self.action_space = spaces.Box(-np.array(most), np.array(most), dtype=np.float64)
        high = np.array(bounds)
        self.observation_space = spaces.Box(-high, high, dtype=np.float64)
        self._state: Floats | None = None

    @abstractmethod
    def derivative(self, state: Floats, action: Floats) -> Floats:
        """The time derivative of a state under an action."""

    @staticmethod
    @abstractmethod
    def observe(state: Floats) -> Floats:
        """What is seen of states (..., d)."""

    @staticmethod
    @abstractmethod
    def reward(obs: ArrayLike, action: ArrayLike, next_obs: ArrayLike) -> Any:
        """What a step pays, or many steps (n,): arrays of observations and actions are welcome."""

    def constrain(self, state: Floats) -> Floats:
        """The state where the mechanism can be."""
        return state

    def ended(self, state: Floats) -> bool:
        """Whether an episode ends in a state."""
        return False

    def move(self, state: Floats, action: Floats) -> Floats:
        """The state after one step."""
        for _ in range(self._substeps):
            moved = runge_kutta(lambda now: self.derivative(now, action), state, self.seconds / self._substeps)
            state = self.constrain(moved)
        return state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start nearly at rest, or in ``options["state"]``."""
        super().reset(seed=seed)
        options = check_options(options)
        if "state" in options:
            self._state = self._check_state(options["state"])
        else:
            self._state = self.rest + self.spread * self.np_random.standard_normal(len(self.rest))
        return self._look(), {"state": self._state.copy()}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Hold an action for one step; the reward is that of the state that it leads to."""
        push = self._check_action(action)
        if self._state is None:
            raise InputError("call reset() before the first step().")
        before, self._state = self.observe(self._state), self.move(self._state, push)
        paid = float(self.reward(before, push, self.observe(self._state)))
        return self._look(), paid, self.ended(self._state), False, {"state": self._state.copy()}

    def _look(self) -> Floats:
        """The observation, with noise."""
        assert self._state is not None
        if self.noise == 0:
            return self.observe(self._state)
        return self.observe(self._state + self.noise * self.np_random.standard_normal(len(self._state)))

    def _check_action(self, action: ArrayLike) -> Floats:
        try:
            push = np.array(action, dtype=np.float64)
        except (TypeError, ValueError):
            push = np.full(0, np.nan)
        high = self.action_space.high  # type: ignore[attr-defined]
        if push.shape != high.shape or not (abs(push) <= high).all():
            size = f"[{-high[0]:g}, {high[0]:g}]"
            raise InputError(f"the action must be {len(high)} numbers in {size}, as an array, but is {action!r}.")
        return push

    def _check_state(self, value: ArrayLike) -> Floats:
        try:
            state = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            state = np.zeros(0)
        known = state.shape == self.rest.shape and np.isfinite(state).all()
        if not known or self.ended(state) or not np.array_equal(self.constrain(state), state):
            wanted = f"({self.variables}), finite and within the world's limits"
            raise InputError(f'options["state"] must be {wanted}, but is {value!r}.')
        return state
