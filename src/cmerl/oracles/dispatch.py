"""Which oracle knows a world: tables for finite ones, a grid for smooth ones."""

from __future__ import annotations

from typing import Any, overload

from cmerl.errors import InputError
from cmerl.oracles.checks import check_horizon
from cmerl.oracles.finite import Evaluation, FiniteModel, Solution, evaluate_finite, finite_model, solve_finite
from cmerl.oracles.grid import (
    GridEvaluation,
    GridSolution,
    SmoothModel,
    evaluate_smooth,
    smooth_model,
    solve_smooth,
)


def known_model(env: Any) -> FiniteModel | SmoothModel | None:
    """Return what ``env`` lets us know of its dynamics, or None; a model is returned as it is."""
    if isinstance(env, FiniteModel | SmoothModel):
        return env
    return finite_model(env) or smooth_model(env)


@overload
def solve(env: FiniteModel, horizon: int) -> Solution: ...
@overload
def solve(env: SmoothModel, horizon: int) -> GridSolution: ...
@overload
def solve(env: Any, horizon: int) -> Any: ...
def solve(env: Any, horizon: int) -> Solution | GridSolution:
    """Return V* and Q* over ``horizon`` steps: exact for finite worlds, on a grid for smooth ones.

    Args:
        env: A model, or an environment that exposes one (see :func:`finite_model` and :func:`smooth_model`).
        horizon: Number of steps H ≥ 1.
    """
    model, horizon = _require_model(env), check_horizon(horizon)
    return solve_finite(model, horizon) if isinstance(model, FiniteModel) else solve_smooth(model, horizon)


@overload
def evaluate(env: FiniteModel, policy: Any, horizon: int) -> Evaluation: ...
@overload
def evaluate(env: SmoothModel, policy: Any, horizon: int) -> GridEvaluation: ...
@overload
def evaluate(env: Any, policy: Any, horizon: int) -> Any: ...
def evaluate(env: Any, policy: Any, horizon: int) -> Evaluation | GridEvaluation:
    """Return V^π for every step and state: exact for finite worlds, on a grid of G points for smooth ones.

    Args:
        env: A model, or an environment that exposes one.
        policy: One of, with S the number of states or of grid points,

            - an (H, S) array of actions,
            - an (H, S, A) array of action probabilities,
            - an object whose ``table(observations)`` returns the first of these,
            - a callable ``policy(obs, step)`` that returns an action, always the same one; it is called H·S times.
        horizon: Number of steps H ≥ 1.
    """
    model, horizon = _require_model(env), check_horizon(horizon)
    if isinstance(model, FiniteModel):
        return evaluate_finite(model, policy, horizon)
    return evaluate_smooth(model, policy, horizon)


def _require_model(env: Any) -> FiniteModel | SmoothModel:
    model = known_model(env)
    if model is None:
        raise InputError(
            "an exact value needs a known model: env.unwrapped must expose arrays P (S, A, S) and R (S, A), "
            "or dynamics that are a cmerl.oracles.SmoothModel."
        )
    return model
