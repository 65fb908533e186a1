"""Bellman's recursion, and the conversion of policies to tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import InputError
from cmerl.validation.numbers import check_index, check_indices

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUM_TOLERANCE = 1e-8


def backward(
    R: Floats, expect: Callable[[Floats], Floats], horizon: int, collapse: Callable[[int, Floats], Floats]
) -> tuple[Floats, Floats]:
    """Bellman's recursion over ``horizon`` steps.

    Args:
        R: (S, A) expected rewards.
        expect: Maps values (S,) to their expectations after one step (S, A).
        horizon: Number of steps H.
        collapse: ``collapse(h, Q_h)`` turns action values (S, A) into state values (S,).

    Returns:
        V (H+1, S) and Q (H, S, A).
    """
    V = np.zeros((horizon + 1, len(R)))
    Q = np.empty((horizon, *R.shape))
    for h in reversed(range(horizon)):
        Q[h] = R + expect(V[h + 1])
        V[h] = collapse(h, Q[h])
    return V, Q


def action_probabilities(policy: Any, observations: NDArray[Any], actions: int, horizon: int) -> Floats:
    """Return any accepted form of policy as probabilities (H, S, A)."""
    states = len(observations)
    if callable(getattr(policy, "table", None)):
        policy = policy.table(observations)
    elif callable(policy):
        policy = _tabulate(policy, observations, actions, horizon)
    table = np.asarray(policy)
    if table.shape == (horizon, states):
        one_hot: Floats = np.eye(actions)[check_indices("the policy's actions", table, actions)]
        return one_hot
    if table.shape == (horizon, states, actions):
        _check_distributions(table)
        return table.astype(np.float64)
    raise InputError(
        f"a policy is a callable policy(obs, step), an array of actions {(horizon, states)} or an array of "
        f"probabilities {(horizon, states, actions)}, not {type(policy).__name__} of shape {table.shape}."
    )


def _tabulate(policy: Callable[[Any, int], Any], observations: NDArray[Any], actions: int, horizon: int) -> Integers:
    """Ask a callable for its action (H, S) at every step and state."""
    # Plain integers, as environments with Discrete spaces return them; rows are copied for safety.
    observed = observations.tolist() if observations.ndim == 1 else observations.copy()
    table = np.empty((horizon, len(observations)), dtype=np.int64)
    for h in range(horizon):
        for s, obs in enumerate(observed):
            table[h, s] = check_index(f"the policy's action in state {s} at step {h}", policy(obs, h), actions)
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
