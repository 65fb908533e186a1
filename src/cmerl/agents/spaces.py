"""Between Gymnasium's observation spaces and the rows that kernels see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cmerl.errors import InputError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Observations as rows of numbers: Discrete as its number, Box scaled to [0, 1] where its bounds are finite.

    Attributes:
        shape: shape of an observation.
        low: what becomes 0 (d,).
        scale: how much becomes 1 (d,).
        states: number of states of a Discrete space, else None.
        start: first state of a Discrete space.
        integer: whether observations are whole numbers.
    """

    shape: tuple[int, ...]
    low: FloatArray
    scale: FloatArray
    states: int | None = None
    start: int = 0
    integer: bool = False

    @classmethod
    def of(cls, space: spaces.Space[Any]) -> StateSpace:
        """The rows for a Gymnasium space."""
        if isinstance(space, spaces.Discrete):
            return cls((), np.zeros(1), np.ones(1), int(space.n), int(space.start), True)
        if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
            d = int(np.prod(space.shape))
            return cls(tuple(space.shape), np.zeros(d), np.ones(d), integer=True)
        if isinstance(space, spaces.Box):
            low, high = space.low.astype(np.float64).ravel(), space.high.astype(np.float64).ravel()
            bounded = np.isfinite(low) & np.isfinite(high) & (high > low)
            low, high = np.where(bounded, low, 0.0), np.where(bounded, high, 1.0)
            return cls(tuple(space.shape), low, high - low)
        raise InputError(
            f"observations of type {type(space).__name__} are not supported: use a wrapper that gives Discrete, "
            "MultiDiscrete, MultiBinary or Box observations, such as gymnasium.wrappers.FlattenObservation"
        )

    def spec(self) -> dict[str, Any]:
        """A JSON-able description."""
        return {
            "shape": list(self.shape),
            "low": self.low.tolist(),
            "scale": self.scale.tolist(),
            "states": self.states,
            "start": self.start,
            "integer": self.integer,
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> StateSpace:
        """The inverse of ``spec``."""
        arrays = {"low": np.array(spec["low"]), "scale": np.array(spec["scale"])}
        return cls(**{**spec, **arrays, "shape": tuple(spec["shape"])})

    @property
    def all_states(self) -> FloatArray | None:
        """Every state (S, 1) of a Discrete space, else None."""
        if self.states is None:
            return None
        return np.arange(self.start, self.start + self.states, dtype=np.float64)[:, None]

    def encode(self, obs: Any) -> FloatArray:
        """One observation as a row (1, d), checked."""
        if (
            self.states is not None
            and isinstance(obs, int | np.integer)
            and self.start <= obs < self.start + self.states
        ):
            return np.array([[float(obs)]])  # the common case, quickly
        try:
            x = np.asarray(obs, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the observation {obs!r} is not numeric") from None
        if x.shape != self.shape:
            raise InputError(f"the observation has shape {x.shape}, but the space has {self.shape}")
        return self.encode_many(x[None])

    def encode_many(self, observations: NDArray[Any]) -> FloatArray:
        """Observations (q, *shape) as rows (q, d), checked."""
        x = np.array(observations, dtype=np.float64).reshape(len(observations), -1)
        bad = ~np.all(np.isfinite(x), axis=1)
        if np.any(bad):
            raise InputError(f"the observation {observations[int(np.argmax(bad))]!r} is NaN or infinite")
        if self.states is not None and np.any(
            (x < self.start) | (x >= self.start + self.states) | (x != np.floor(x))
        ):
            raise InputError(
                f"an observation is not a state number from {self.start} to {self.start + self.states - 1}"
            )
        x = (x - self.low) / self.scale
        x += 0.0  # no negative zeros: equal states must have equal bytes
        return x

    def decode(self, rows: FloatArray) -> list[Any]:
        """The observations behind rows (q, d), for a user's reward function."""
        x = rows * self.scale + self.low
        if self.states is not None:
            return [int(v) for v in x[:, 0]]
        return [row.reshape(self.shape).astype(np.int64 if self.integer else np.float64) for row in x]
