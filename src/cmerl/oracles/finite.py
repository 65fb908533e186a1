"""Finite MDPs: exact V*, Q* and V^π by dynamic programming on their tables."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.oracles.bellman import SUM_TOLERANCE, Floats, Integers, action_probabilities, backward
from cmerl.oracles.wrapping import is_transformed
from cmerl.validation.episodes import check_horizon
from cmerl.validation.numbers import check_index, check_indices


@dataclass(frozen=True, eq=False)
class FiniteModel:
    """The tables of a finite MDP.

    Attributes:
        P: (S, A, S) transition probabilities; mass missing from one terminates the episode.
        R: (S, A) expected rewards.
        start: (S,) distribution of the first state.
        observations: What is observed in each state: integers (S,), or rows of (S, d).
    """

    P: Floats
    R: Floats
    start: Floats
    observations: NDArray[Any]

    def __post_init__(self) -> None:
        if not _are_tables(self.P, self.R):
            raise InputError("a finite model needs P of shape (S, A, S) and R of shape (S, A).")
        if len(self.start) != len(self.R) or len(self.observations) != len(self.R):
            raise InputError(f"start and observations need one entry for each of the {len(self.R)} states.")

    @property
    def terminates(self) -> bool:
        """True if an episode may terminate before the horizon."""
        return bool((self.P.sum(axis=2) < 1 - SUM_TOLERANCE).any())

    def index(self, obs: Any) -> int:
        """Return the state in which ``obs`` is observed."""
        try:
            return self._states[_key(obs)]
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{reprlib.repr(obs)} is not an observation of this model.") from None

    @cached_property
    def _states(self) -> dict[tuple[tuple[int, ...], bytes], int]:
        return {_key(obs): s for s, obs in enumerate(self.observations)}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value function of a policy.

    Attributes:
        V: (H+1, S) expected rewards-to-go: ``V[h, s]`` from state s before step h; ``V[H]`` is zero.
    """

    V: Floats

    @property
    def horizon(self) -> int:
        """Number of steps H."""
        return len(self.V) - 1

    def value(self, s: int, step: int = 0) -> float:
        """Return the value of state number ``s`` before ``step`` (0 … H)."""
        return float(self.V[check_index("step", step, len(self.V)), check_index("state", s, self.V.shape[1])])


@dataclass(frozen=True, eq=False)
class Solution(Evaluation):
    """The values of an optimal policy, and those of every action.

    Attributes:
        V: (H+1, S) optimal values.
        Q: (H, S, A) optimal action values; ``V[h] = Q[h].max(axis=1)`` exactly.
    """

    Q: Floats

    @property
    def policy(self) -> Integers:
        """An optimal policy (H, S): the first of the best actions."""
        best: Integers = np.argmax(self.Q, axis=2)
        return best

    def gap(self, s: int, a: int, step: int = 0) -> float:
        """Return the gap V*(s) − Q*(s, a) ≥ 0 of action ``a`` in state ``s``."""
        return gap_at(self, np.array([step]), np.array([s]), np.array([a])).item()


def finite_model(env: Any) -> FiniteModel | None:
    """Return the model that ``env.unwrapped`` exposes as ``P`` (S, A, S) and ``R`` (S, A), or None.

    The dictionary ``P[s][a] = [(probability, next state, reward, terminated), …]`` of Gymnasium's toy environments
    will do. None also where a wrapper changes what is observed, done or earned: the tables would not be those of
    ``env``. A missing ``start`` means state 0, and missing ``observations`` mean the states' numbers.
    """
    if is_transformed(env):
        return None
    core = getattr(env, "unwrapped", env)
    P: Any = getattr(core, "P", None)
    R: Any = getattr(core, "R", None)
    if isinstance(P, dict):
        return _toy_model(core, P)
    if not _are_tables(P, R):
        return None
    states = len(R)
    start = np.asarray(getattr(core, "start", 0))
    return FiniteModel(
        P=np.asarray(P, dtype=np.float64),
        R=np.asarray(R, dtype=np.float64),
        start=np.eye(states)[check_index("start", start, states)] if start.ndim == 0 else start,
        observations=np.asarray(getattr(core, "observations", np.arange(states))),
    )


def _toy_model(core: Any, outcomes: dict[int, dict[int, list[tuple[float, int, float, bool]]]]) -> FiniteModel | None:
    """The model of a toy world of Gymnasium, from its own dictionary of outcomes."""
    start = getattr(core, "initial_state_distrib", None)
    if start is None or getattr(core, "fickle_passenger", False):  # a fickle passenger is not in Taxi's dictionary
        return None
    states, actions = len(outcomes), len(outcomes[0])
    P, R = np.zeros((states, actions, states)), np.zeros((states, actions))
    for s, by_action in outcomes.items():
        for a, possible in by_action.items():
            for probability, next_state, reward, terminated in possible:
                R[s, a] += probability * reward
                if not terminated:
                    P[s, a, next_state] += probability
    return FiniteModel(P, R, np.asarray(start, dtype=np.float64), np.arange(states))


def solve_finite(model: FiniteModel, horizon: int) -> Solution:
    """Solve a finite MDP exactly over ``horizon`` steps."""
    V, Q = backward(model.R, _expectations(model), check_horizon(horizon), lambda h, Qh: Qh.max(axis=1))
    return Solution(V=V, Q=Q)


def evaluate_finite(model: FiniteModel, policy: Any, horizon: int) -> Evaluation:
    """Evaluate a policy exactly, for every state and step; see ``oracles.evaluate`` for what is a policy."""
    horizon = check_horizon(horizon)
    probabilities = action_probabilities(policy, model.observations, model.R.shape[1], horizon)
    V, _ = backward(model.R, _expectations(model), horizon, lambda h, Qh: (probabilities[h] * Qh).sum(axis=1))
    return Evaluation(V=V)


def gap_at(solution: Solution, steps: NDArray[Any], states: NDArray[Any], actions: NDArray[Any]) -> Floats:
    """Return the gaps V*_h(s) − Q*_h(s, a), elementwise over arrays of one shape."""
    H, S, A = solution.Q.shape
    h, s, a = (
        check_indices(name, values, size)
        for name, values, size in (("steps", steps, H), ("states", states, S), ("actions", actions, A))
    )
    gaps: Floats = solution.V[h, s] - solution.Q[h, s, a]
    return gaps


def _expectations(model: FiniteModel) -> Callable[[Floats], Floats]:
    """The map from values (S,) to their expectations after one step (S, A)."""
    P = model.P.reshape(model.R.size, len(model.R))  # one matrix-vector product a step
    return lambda V: (P @ V).reshape(model.R.shape)


def _are_tables(P: Any, R: Any) -> bool:
    return isinstance(P, np.ndarray) and isinstance(R, np.ndarray) and R.ndim == 2 and P.shape == (*R.shape, len(R))


def _key(obs: Any) -> tuple[tuple[int, ...], bytes]:
    """A hashable form of an observation, the same for 2, np.int64(2) and np.array(2)."""
    array = np.asarray(obs, dtype=np.float64) + 0.0  # −0.0 equals 0.0 but has other bytes
    return array.shape, array.tobytes()
