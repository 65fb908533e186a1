"""A kernelised non-linear regulator: the mean of the next state is linear in known non-linear features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.validation.episodes import check_options
from cmerl.validation.numbers import check_count, check_index, check_number, check_numbers, check_pair

Floats = NDArray[np.float64]

FORCES = np.array([-1.0, 0.0, 1.0])  # of actions 0, 1, 2
LARGEST = np.ones(4)  # no feature exceeds this on the square
REACH = math.sqrt(3.0)  # of the noise, in standard deviations
Row = tuple[float, float, float, float]


@dataclass(frozen=True)
class RegulatorDynamics:
    """The dynamics of :class:`Regulator` as pure functions; equal parameters make equal dynamics.

    Attributes:
        W: The operator, two rows of four numbers.
        target: Where a step pays most.
        radius: Distance from there at which it pays nothing.
        noise: Standard deviation of the noise in each coordinate.
    """

    W: tuple[Row, Row]
    target: tuple[float, float]
    radius: float
    noise: float

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
        return len(FORCES)

    def features(self, states: Floats, action: int) -> Floats:
        """φ(s, a) = (x, v, sin πx, force) (n, 4) at states (n, 2)."""
        x, v = states[:, 0], states[:, 1]
        return np.stack([x, v, np.sin(np.pi * x), np.full(len(states), FORCES[action])], axis=1)

    def rewards(self, states: Floats) -> Floats:
        """Rewards (n,) of any action in states (n, 2): a cone of height 1 around the target."""
        distance = np.linalg.norm(states - np.array(self.target), axis=-1)
        return np.asarray(np.maximum(0.0, 1.0 - distance / self.radius))

    def mean_next(self, states: Floats, action: int) -> Floats:
        """Wφ(s, a) (n, 2)."""
        return np.asarray(self.features(states, action) @ np.array(self.W).T)

    def project(self, points: Floats) -> Floats:
        """The points (..., 2) themselves: noise never leads out of the square, but for rounding."""
        return np.clip(points, -1.0, 1.0)


class Regulator(gymnasium.Env[Floats, Any]):
    """A kernelised non-linear regulator: s' = Wφ(s, a) + ε, with three forces.

    The features are φ = (x, v, sin πx, force). The noise is −√3σ, 0 or √3σ with probabilities 1/6, 2/3 and 1/6 in
    each coordinate. It matches the first five moments of a Gaussian, and it is bounded, so states stay in the square
    [−1, 1]² and the operator W is exact everywhere. A step pays max(0, 1 − ‖s − target‖ / radius) of the state s that
    it leaves.

    Args:
        W: The operator (2, 4).
        target: Where the reward is 1.
        radius: Distance from the target at which the reward vanishes.
        noise: σ, its standard deviation in each coordinate.
        start: First state.
        horizon: Suggested episode length.

    Attributes:
        dynamics: The pure functions behind it, a ``cmerl.oracles.SmoothModel``.
        operator_norm: ‖Θ_P‖_HS with the kernel of φ on state-actions and the linear kernel on states, which is ‖W‖.
    """

    def __init__(
        self,
        W: ArrayLike = ((0.85, 0.1, 0.0, 0.0), (-0.1, 0.6, 0.1, 0.15)),
        target: ArrayLike = (0.3, 0.4),
        radius: float = 0.4,
        noise: float = 0.02,
        start: ArrayLike = (-0.3, -0.4),
        horizon: int = 25,
    ) -> None:
        self.horizon = check_count("horizon", horizon)
        operator, noise, radius = check_numbers("W", W), check_number("noise", noise), check_number("radius", radius)
        if operator.shape != (2, 4) or not np.isfinite(operator).all():
            raise InputError(f"W must be a finite array of shape (2, 4), but has shape {operator.shape}.")
        if not 0 <= noise < np.inf or not 0 < radius < np.inf:
            raise InputError(f"noise must be at least 0 and radius positive, but they are {noise} and {radius}.")
        widest = np.abs(operator) @ LARGEST + REACH * noise
        if np.any(widest > 1.0):
            raise InputError(
                f"a state may be led to ±{widest.max():.3g}, outside of the square: make W or the noise smaller."
            )
        first, second = (tuple(row) for row in operator.tolist())
        self.dynamics = RegulatorDynamics((first, second), check_pair("target", target), radius, noise)
        self.start = self._check_state("start", start)
        self.action_space = spaces.Discrete(len(FORCES))
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(2,), dtype=np.float64)
        self._state: Floats | None = None

    @property
    def operator_norm(self) -> float:
        """‖W‖."""
        return float(np.linalg.norm(np.array(self.dynamics.W)))

    @staticmethod
    def _check_state(name: str, value: ArrayLike) -> Floats:
        state = np.array(check_pair(name, value))
        if np.abs(state).max() > 1.0:
            raise InputError(f"{name} must lie in the square [−1, 1]², but is {value!r}.")
        return state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start an episode at ``start`` or in ``options["state"]``."""
        super().reset(seed=seed)
        options = check_options(options)
        self._state = (
            self._check_state('options["state"]', options["state"]) if "state" in options else self.start.copy()
        )
        return self._state.copy(), {"state": self._state.copy()}

    def step(self, action: SupportsIndex) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take one action; the reward is that of the state it leaves, and both ending flags are always False."""
        a = check_index("the action", action, len(FORCES))
        if self._state is None:
            raise InputError("call reset() before the first step().")
        reward = float(self.dynamics.rewards(self._state[None])[0])
        noise = REACH * self.dynamics.noise * self.np_random.choice([-1.0, 0.0, 1.0], size=2, p=[1 / 6, 2 / 3, 1 / 6])
        self._state = self.dynamics.project(self.dynamics.mean_next(self._state[None], a)[0] + noise)
        return self._state.copy(), reward, False, False, {"state": self._state.copy()}
