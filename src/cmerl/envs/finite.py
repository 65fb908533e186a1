"""Finite Markov decision processes: tables on the inside, a Gymnasium environment on the outside."""

from __future__ import annotations

from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError
from cmerl.validation.episodes import check_options
from cmerl.validation.numbers import check_count, check_index

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-8


def cumulative(P: Floats) -> Floats:
    """Cumulative sums of distributions, made safe for :func:`draw`.

    Args:
        P: (..., S) distributions.

    Returns:
        (..., S) nondecreasing thresholds, infinite from the last state of positive probability on: a sum that
        rounds to less than one would otherwise let a draw fall off the end, or into an unreachable state.
    """
    states = P.shape[-1]
    last = states - 1 - np.argmax(P[..., ::-1] > 0, axis=-1)
    return np.where(np.arange(states) < last[..., None], np.cumsum(P, axis=-1), np.inf)


def draw(cdf: Floats, u: float) -> int:
    """Return the state that a uniform ``u`` in [0, 1) selects from one row (S,) of :func:`cumulative`.

    It is the first state whose threshold exceeds ``u``. A state of probability zero has the threshold of its
    predecessor (or zero), so it is never the first.
    """
    return int(np.searchsorted(cdf, u, side="right"))


class FiniteMDP(gymnasium.Env[Any, Any]):
    """A finite MDP with known dynamics. It neither terminates nor truncates: episodes end at the horizon.

    Args:
        P: (S, A, S) transition probabilities; each row sums to one.
        R: (S, A) rewards, paid without noise.
        start: The first state of every episode, or a distribution (S,) over it.
        horizon: The episode length that this environment suggests, if any.
        coordinates: None for integer observations, or an (S, d) array whose distinct rows are observed
            instead of the states' numbers, so that kernels can generalise over space.

    Attributes:
        P: (S, A, S), read-only.
        R: (S, A), read-only.
        start: (S,) distribution of the first state, read-only.
        horizon: As given.
        observations: What is observed in each state: the integers (S,), or the coordinates (S, d); read-only.
        state: The current state, −1 before the first reset.
    """

    def __init__(
        self,
        P: ArrayLike,
        R: ArrayLike,
        start: ArrayLike = 0,
        *,
        horizon: int | None = None,
        coordinates: ArrayLike | None = None,
    ) -> None:
        self.P = _transitions(P)
        states, actions, _ = self.P.shape
        self.R = _finite_array("R", R, (states, actions))
        self.start = _start_distribution(start, states)
        self.horizon = None if horizon is None else check_count("horizon", horizon)
        self.state = -1

        self.action_space = spaces.Discrete(actions)
        self.observations: NDArray[Any]
        if coordinates is None:
            self.observations = _read_only(np.arange(states))
            self.observation_space = spaces.Discrete(states)
        else:
            self.observations = _coordinates(coordinates, states)
            self.observation_space = _bounding_box(self.observations)

        self._next_cdf = cumulative(self.P)
        self._start_cdf = cumulative(self.start)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, in a state drawn from ``start`` or in ``options["state"]``."""
        super().reset(seed=seed)
        options = check_options(options)
        if "state" in options:
            self.state = check_index('options["state"]', options["state"], len(self.R))
        else:
            self.state = draw(self._start_cdf, self.np_random.random())
        return self._observe()

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action; the reward is ``R[state, action]`` and both ending flags are always False."""
        a = check_index("the action", action, self.R.shape[1])
        if self.state < 0:
            raise InputError("call reset() before the first step().")
        reward = float(self.R[self.state, a])
        self.state = draw(self._next_cdf[self.state, a], self.np_random.random())
        observation, info = self._observe()
        return observation, reward, False, False, info

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        observed = self.observations[self.state]
        # Copies, because callers keep what they are given.
        observation = int(observed) if self.observations.ndim == 1 else observed.copy()
        return observation, {"state": self.state}


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Freeze an array: the sampling tables derive from the model, which must not change under them."""
    array.setflags(write=False)
    return array


def _finite_array(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, but has shape {array.shape}.")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, but holds NaN or infinity.")
    return _read_only(array)


def _transitions(P: ArrayLike) -> Floats:
    shape = np.shape(P)
    if len(shape) != 3 or shape[0] != shape[2] or 0 in shape:
        raise InputError(f"P must have shape (S, A, S), but has shape {shape}.")
    table = _finite_array("P", P, shape)
    wrong = (table < 0).any(axis=-1) | (abs(table.sum(axis=-1) - 1) > SUM_TOLERANCE)
    if wrong.any():
        s, a = np.argwhere(wrong)[0]
        raise InputError(
            f"P[{s}, {a}] (state {s}, action {a}) must be non-negative and sum to 1, "
            f"but its minimum is {table[s, a].min():.6g} and its sum is {table[s, a].sum():.10g}."
        )
    return table


def _start_distribution(start: ArrayLike, states: int) -> Floats:
    if np.ndim(start) == 0:
        one_hot = np.zeros(states)
        one_hot[check_index("start", start, states)] = 1.0
        return _finite_array("start", one_hot, (states,))
    distribution = _finite_array("start", start, (states,))
    if (distribution < 0).any() or abs(distribution.sum() - 1) > SUM_TOLERANCE:
        raise InputError(f"start must be non-negative and sum to 1, but sums to {distribution.sum():.10g}.")
    return distribution


def _coordinates(coordinates: ArrayLike, states: int) -> Floats:
    shape = np.shape(coordinates)
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"coordinates must have shape (S, d), but has shape {shape}.")
    points = _finite_array("coordinates", coordinates, (states, shape[1]))
    if len(np.unique(points, axis=0)) < states:
        raise InputError("coordinates must differ between states, but two rows are equal.")
    return points


def _bounding_box(points: Floats) -> spaces.Box:
    low, high = points.min(axis=0), points.max(axis=0)
    # A coordinate that never varies still needs an interval: Gymnasium's checker warns of empty ones.
    return spaces.Box(low, np.where(high > low, high, low + 1.0), dtype=np.float64)
