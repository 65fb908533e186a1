"""What an all-knowing player would do: exact V*, Q* and V^π by dynamic programming on a known model."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cmerl.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUM_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class FiniteModel:
    """The tables of a finite MDP.

    Attributes:
        P: (S, A, S) transition probabilities.
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

    def index(self, obs: Any) -> int:
        """Return the state in which ``obs`` is observed."""
        try:
            return self._states[_key(obs)]
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{obs!r} is not an observation of this model.") from None

    @cached_property
    def _states(self) -> dict[tuple[tuple[int, ...], bytes], int]:
        return {_key(obs): s for s, obs in enumerate(self.observations)}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The values of a policy.

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
        return float(self.V[_index("step", step, len(self.V)), _index("state", s, self.V.shape[1])])


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
        """Return what action ``a`` loses in state ``s``: V*(s) − Q*(s, a), never negative."""
        return gap_at(self, np.array([step]), np.array([s]), np.array([a])).item()


def finite_model(env: Any) -> FiniteModel | None:
    """Return the model that ``env.unwrapped`` exposes as ``P`` (S, A, S) and ``R`` (S, A), or None.

    None also where a wrapper changes what is observed, done or earned: the tables would not be those of ``env``.
    A missing ``start`` means state 0, and missing ``observations`` mean the states' numbers.
    """
    if _is_transformed(env):
        return None
    core = getattr(env, "unwrapped", env)
    P: Any = getattr(core, "P", None)
    R: Any = getattr(core, "R", None)
    # Gymnasium's toy worlds have a dictionary called P: that is another format, not a model in ours.
    if not _are_tables(P, R):
        return None
    states = len(R)
    start = np.asarray(getattr(core, "start", 0))
    return FiniteModel(
        P=np.asarray(P, dtype=np.float64),
        R=np.asarray(R, dtype=np.float64),
        start=np.eye(states)[_index("start", start, states)] if start.ndim == 0 else start,
        observations=np.asarray(getattr(core, "observations", np.arange(states))),
    )


def _is_transformed(env: Any) -> bool:
    """Whether a wrapper changes observations, actions or rewards, so that the tables no longer describe env."""
    changing = (gymnasium.ObservationWrapper, gymnasium.ActionWrapper, gymnasium.RewardWrapper)
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, changing):
            return True
        env = env.env
    return False


def solve(env: Any, horizon: int) -> Solution:
    """Solve a finite MDP exactly over ``horizon`` steps.

    Args:
        env: A :class:`FiniteModel`, or an environment that exposes one (see :func:`finite_model`).
        horizon: Number of steps H ≥ 1.
    """
    V, Q = _backward(_require_model(env), _check_horizon(horizon), lambda h, Qh: Qh.max(axis=1))
    return Solution(V=V, Q=Q)


def evaluate(env: Any, policy: Any, horizon: int) -> Evaluation:
    """Evaluate a policy exactly, for every state and step.

    Args:
        env: A :class:`FiniteModel`, or an environment that exposes one.
        policy: One of

            - an (H, S) array of actions,
            - an (H, S, A) array of action probabilities,
            - an object whose ``table(observations)`` returns the first of these,
            - a callable ``policy(obs, step)`` that returns an action, always the same one.
        horizon: Number of steps H ≥ 1.
    """
    model, horizon = _require_model(env), _check_horizon(horizon)
    probabilities = _action_probabilities(policy, model, horizon)
    V, _ = _backward(model, horizon, lambda h, Qh: (probabilities[h] * Qh).sum(axis=1))
    return Evaluation(V=V)


def policy_regret(solution: Evaluation, evaluation: Evaluation, s: int) -> float:
    """Return V*(s) − V^π(s) at the first step: the regret of an episode played by one plan from ``s``."""
    if solution.V.shape != evaluation.V.shape:
        raise InputError(
            f"regret compares values of one shape (H+1, S), not {solution.V.shape} and {evaluation.V.shape}."
        )
    return solution.value(s) - evaluation.value(s)


def gap_regret(solution: Solution, states: ArrayLike, actions: ArrayLike) -> float:
    """Return Σ_h [V*_h(s_h) − Q*_h(s_h, a_h)]: the regret of an episode that was replanned inside.

    Args:
        solution: Optimal values over H steps.
        states: (n,) states visited at steps 0 … n−1, n ≤ H.
        actions: (n,) actions taken there.
    """
    visited, taken = np.asarray(states), np.asarray(actions)
    if visited.ndim != 1 or visited.shape != taken.shape or len(visited) > solution.horizon:
        raise InputError(
            f"states and actions need one shape (n,) with n ≤ {solution.horizon}, "
            f"but have shapes {visited.shape} and {taken.shape}."
        )
    return float(gap_at(solution, np.arange(len(visited)), visited, taken).sum())


def gap_at(solution: Solution, steps: NDArray[Any], states: NDArray[Any], actions: NDArray[Any]) -> Floats:
    """Return the gaps V*_h(s) − Q*_h(s, a), elementwise over arrays of one shape."""
    H, S, A = solution.Q.shape
    h, s, a = (
        _indices(name, values, size)
        for name, values, size in (("steps", steps, H), ("states", states, S), ("actions", actions, A))
    )
    gaps: Floats = solution.V[h, s] - solution.Q[h, s, a]
    return gaps


def _backward(
    model: FiniteModel, horizon: int, collapse: Callable[[int, Floats], Floats]
) -> tuple[Floats, Floats]:
    """Bellman's recursion; ``collapse(h, Q_h)`` turns action values (S, A) into state values (S,)."""
    states, actions = model.R.shape
    V = np.zeros((horizon + 1, states))
    Q = np.empty((horizon, states, actions))
    P = model.P.reshape(states * actions, states)  # one matrix-vector product a step
    for h in reversed(range(horizon)):
        Q[h] = model.R + (P @ V[h + 1]).reshape(states, actions)
        V[h] = collapse(h, Q[h])
    return V, Q


def _action_probabilities(policy: Any, model: FiniteModel, horizon: int) -> Floats:
    """Return any accepted form of policy as probabilities (H, S, A)."""
    states, actions = model.R.shape
    if callable(getattr(policy, "table", None)):
        policy = policy.table(model.observations)
    elif callable(policy):
        policy = _tabulate(policy, model, horizon)
    table = np.asarray(policy)
    if table.shape == (horizon, states):
        one_hot: Floats = np.eye(actions)[_indices("the policy's actions", table, actions)]
        return one_hot
    if table.shape == (horizon, states, actions):
        _check_distributions(table)
        return table.astype(np.float64)
    raise InputError(
        f"a policy is a callable policy(obs, step), an array of actions {(horizon, states)} or an array of "
        f"probabilities {(horizon, states, actions)}, not {type(policy).__name__} of shape {table.shape}."
    )


def _tabulate(policy: Callable[[Any, int], Any], model: FiniteModel, horizon: int) -> Integers:
    """Ask a callable for its action (H, S) at every step and state."""
    states, actions = model.R.shape
    # Plain integers, as environments with Discrete spaces return them; rows are copied for safety.
    observed = model.observations.tolist() if model.observations.ndim == 1 else model.observations.copy()
    table = np.empty((horizon, states), dtype=np.int64)
    for h in range(horizon):
        for s, obs in enumerate(observed):
            table[h, s] = _index(f"the policy's action in state {s} at step {h}", policy(obs, h), actions)
    return table


def _check_distributions(table: NDArray[Any]) -> None:
    # "not (… ≤ tolerance)" rather than "> tolerance", so that NaN is refused as well
    wrong = ~((table >= 0).all(axis=2) & (abs(table.sum(axis=2) - 1) <= SUM_TOLERANCE))
    if wrong.any():
        h, s = np.argwhere(wrong)[0]
        raise InputError(
            f"the policy's action probabilities must be non-negative and sum to 1, "
            f"but in state {s} at step {h} they are {table[h, s].tolist()}."
        )


def _require_model(env: Any) -> FiniteModel:
    model = env if isinstance(env, FiniteModel) else finite_model(env)
    if model is None:
        raise InputError(
            "an exact value needs a known finite model: env.unwrapped must expose arrays P (S, A, S) and R (S, A)."
        )
    return model


def _are_tables(P: Any, R: Any) -> bool:
    return (
        isinstance(P, np.ndarray) and isinstance(R, np.ndarray) and R.ndim == 2 and P.shape == (*R.shape, len(R))
    )


def _key(obs: Any) -> tuple[tuple[int, ...], bytes]:
    """A hashable form of an observation, the same for 2, np.int64(2) and np.array(2)."""
    array = np.asarray(obs, dtype=np.float64) + 0.0  # −0.0 equals 0.0 but has other bytes
    return array.shape, array.tobytes()


def _check_horizon(horizon: int) -> int:
    try:
        steps = operator.index(horizon)
    except TypeError:
        steps = 0
    if steps < 1:
        raise InputError(f"horizon must be an integer of at least 1, but is {horizon!r}.")
    return steps


def _index(name: str, value: Any, size: int) -> int:
    return int(_indices(name, np.asarray(value), size, ndim=0))


def _indices(name: str, values: NDArray[Any], size: int, ndim: int | None = None) -> NDArray[Any]:
    """Refuse what NumPy would wrap around, truncate or take for a mask."""
    wrong_type = values.dtype.kind not in "iu" and values.size > 0
    if wrong_type or (ndim is not None and values.ndim != ndim):
        raise InputError(f"{name} must be integer, but is {values!r}.")
    if ((values < 0) | (values >= size)).any():
        raise InputError(f"{name} must lie from 0 to {size - 1}, but is {values!r}.")
    return values.astype(np.int64)
