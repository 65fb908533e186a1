"""Reactor: a stirred tank in which an exothermic reaction A → B may run away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.validation.numbers import check_number, check_pair

Floats = NDArray[np.float64]

COOLANT = (280.0, 320.0)
TRIP = 400.0  # K: above it the reaction has run away, and the relief valve ends the batch
SUBSTEPS = 20


@dataclass(frozen=True)
class ReactorDynamics:
    """The balances of a continuous stirred tank [Seborg et al., Process Dynamics and Control], in min, L, mol, K.

    Attributes:
        flow: q / V, per minute.
        feed: Concentration of A in the feed.
        feed_temperature: Its temperature.
        rate: k₀, per minute.
        activation: E / R.
        heating: −ΔH / (ρ C_p), by how much one mol/L of A heats the tank.
        cooling: UA / (V ρ C_p), per minute.
        side: Share of B that a side reaction spoils at 350 K.
        side_growth: By which factor that share over the rest grows with each kelvin, as a logarithm.
    """

    flow: float = 1.0
    feed: float = 1.0
    feed_temperature: float = 350.0
    rate: float = 7.2e10
    activation: float = 8750.0
    heating: float = 5e4 / 239.0
    cooling: float = 5e4 / 23900.0
    side: float = 0.02
    side_growth: float = 0.15

    def derivative(self, state: Floats, coolant: float) -> Floats:
        """The time derivative (2,) of concentration and temperature."""
        c, T = state
        reacted = self.rate * np.exp(-self.activation / T) * c
        heat = self.heating * reacted + self.cooling * (coolant - T)
        return np.array([self.flow * (self.feed - c) - reacted, self.flow * (self.feed_temperature - T) + heat])

    def move(self, state: Floats, coolant: float, minutes: float) -> Floats:
        """Where a state leads while the coolant is held; a reaction that runs away is stopped at the trip."""
        h = minutes / SUBSTEPS
        for _ in range(SUBSTEPS):
            k1 = self.derivative(state, coolant)
            k2 = self.derivative(state + h / 2 * k1, coolant)
            k3 = self.derivative(state + h / 2 * k2, coolant)
            k4 = self.derivative(state + h * k3, coolant)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            if state[1] > TRIP:
                return np.array([state[0], TRIP + 1.0])
        return state

    def product(self, states: Floats) -> Floats:
        """The share of A that becomes good B (…,) at states (…, 2): conversion, less what is spoiled."""
        c, T = states[..., 0], states[..., 1]
        spoiled = self.side * np.exp(self.side_growth * (T - 350.0))
        good: Floats = np.clip(1.0 - c / self.feed, 0.0, 1.0) / (1.0 + spoiled)
        return good


class Reactor(gymnasium.Env[Floats, Floats]):
    """A stirred tank reactor whose operating point is unstable without control.

    The observation is the concentration of A in mol/L and the temperature in K. The action is the temperature of the
    coolant, 280 to 320 K, held for ``minutes``. A step pays the share of the feed that has become good product in the
    next state: conversion rises with temperature, and from about 365 K on a side reaction spoils the product. Above
    400 K the reaction has run away and the episode terminates. Episodes start near 0.5 mol/L and 350 K, which is
    unstable.

    Args:
        minutes: Length of a step.
        noise: Standard deviations of the noise on the observed concentration and temperature.
        horizon: Suggested episode length.

    Attributes:
        columns: Names of the observation's columns, for ``limits``.
    """

    columns: ClassVar[tuple[str, ...]] = ("concentration", "temperature")
    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __init__(self, minutes: float = 0.05, noise: Any = (0.0, 0.0), horizon: int = 40) -> None:
        self.minutes, self.noise = check_number("minutes", minutes), check_pair("noise", noise)
        if not 0.0 < self.minutes <= 0.2 or min(self.noise) < 0.0:
            raise InputError("minutes must lie in (0, 0.2], and noise must not be negative.")
        self.horizon, self.dynamics = horizon, ReactorDynamics()
        low, high = np.array([0.0, 280.0]), np.array([1.0, 420.0])
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.action_space = gymnasium.spaces.Box(COOLANT[0], COOLANT[1], (1,), dtype=np.float64)
        self.state: Floats | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start near the operating point, or at ``options["state"]``."""
        super().reset(seed=seed)
        start = np.array([0.5, 350.0]) + self.np_random.uniform(-1.0, 1.0, 2) * [0.05, 5.0]
        if options is not None and "state" in options:
            start = np.array(check_pair('options["state"]', options["state"]))
        self.state = start
        return self._observed(), {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Hold the coolant at a temperature."""
        if self.state is None:
            raise InputError("call reset() before step()")
        coolant = float(np.clip(np.asarray(action, dtype=np.float64).reshape(-1)[0], *COOLANT))
        self.state = self.dynamics.move(self.state, coolant, self.minutes)
        ran_away = bool(self.state[1] > TRIP)
        reward = 0.0 if ran_away else float(self.dynamics.product(self.state))
        return self._observed(), reward, ran_away, False, {"runaway": ran_away}

    def _observed(self) -> Floats:
        assert self.state is not None
        seen = self.state + self.np_random.normal(size=2) * self.noise if max(self.noise) > 0.0 else self.state
        return np.clip(seen, self.observation_space.low, self.observation_space.high)  # type: ignore[attr-defined]


@dataclass
class PIController:
    """A proportional-integral controller of the temperature; it returns the coolant temperature in K.

    It keeps the integral of an episode; ``begin_episode`` returns a controller that starts at zero.

    Attributes:
        setpoint: K.
        gain: Of the error in K.
        per_minute: Of its integral.
        minutes: Length of a step.
        most: Bound on the integral, against wind-up, in K min.
    """

    setpoint: float = 350.0
    gain: float = 4.0
    per_minute: float = 2.0
    minutes: float = 0.05
    most: float = 2.0
    integral: float = 0.0

    def begin_episode(self) -> Self:
        """The same controller with a zero integral."""
        return type(self)(self.setpoint, self.gain, self.per_minute, self.minutes, self.most)

    def __call__(self, obs: Any, step: int = 0) -> Floats:
        """The coolant (1,) for an observation."""
        error = self.setpoint - float(obs[1])
        self.integral = min(max(self.integral + error * self.minutes, -self.most), self.most)
        coolant = 300.0 + self.gain * error + self.per_minute * self.integral
        return np.array([min(max(coolant, COOLANT[0]), COOLANT[1])])
