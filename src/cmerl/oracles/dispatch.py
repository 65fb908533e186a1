"""Selects the oracle of an environment: tables if finite, a grid if smooth, Riccati if linear-quadratic."""

from __future__ import annotations

from typing import Any, overload

from cmerl.errors import InputError
from cmerl.oracles.finite import Evaluation, FiniteModel, Solution, evaluate_finite, finite_model, solve_finite
from cmerl.oracles.grid import (
    GridEvaluation,
    GridSolution,
    SmoothModel,
    evaluate_smooth,
    smooth_model,
    solve_smooth,
)
from cmerl.oracles.riccati import (
    LinearQuadraticModel,
    QuadraticEvaluation,
    QuadraticSolution,
    evaluate_linear_policy,
    linear_quadratic_model,
    solve_linear_quadratic,
)
from cmerl.oracles.tables import TableModel, evaluate_table, solve_table, table_model
from cmerl.validation.episodes import check_horizon

Model = FiniteModel | SmoothModel | LinearQuadraticModel | TableModel


def known_model(env: Any) -> Model | None:
    """Return the known dynamics of ``env``, or None; a model is returned unchanged."""
    if isinstance(env, Model):
        return env
    return finite_model(env) or smooth_model(env) or linear_quadratic_model(env) or table_model(env)


@overload
def solve(env: FiniteModel | TableModel, horizon: int) -> Solution: ...
@overload
def solve(env: SmoothModel, horizon: int) -> GridSolution: ...
@overload
def solve(env: LinearQuadraticModel, horizon: int) -> QuadraticSolution: ...
@overload
def solve(env: Any, horizon: int) -> Any: ...
def solve(env: Any, horizon: int) -> Solution | GridSolution | QuadraticSolution:
    """Return V* and Q* over ``horizon`` steps: on a grid for smooth environments, exact for all others.

    Args:
        env: A model, or an environment that exposes one (see :func:`finite_model`, :func:`table_model`,
            :func:`smooth_model` and :func:`linear_quadratic_model`).
        horizon: Number of steps H ≥ 1.
    """
    model, horizon = _require_model(env), check_horizon(horizon)
    if isinstance(model, FiniteModel):
        return solve_finite(model, horizon)
    if isinstance(model, TableModel):
        return solve_table(model, horizon)
    if isinstance(model, LinearQuadraticModel):
        return solve_linear_quadratic(model, horizon)
    return solve_smooth(model, horizon)


@overload
def evaluate(env: FiniteModel | TableModel, policy: Any, horizon: int) -> Evaluation: ...
@overload
def evaluate(env: SmoothModel, policy: Any, horizon: int) -> GridEvaluation: ...
@overload
def evaluate(env: LinearQuadraticModel, policy: Any, horizon: int) -> QuadraticEvaluation: ...
@overload
def evaluate(env: Any, policy: Any, horizon: int) -> Any: ...
def evaluate(env: Any, policy: Any, horizon: int) -> Evaluation | GridEvaluation | QuadraticEvaluation:
    """Return V^π for every step and state: on a grid of G points for smooth environments, exact for all others.

    Args:
        env: A model, or an environment that exposes one.
        policy: One of, with S the number of states or of grid points,

            - an (H, S) array of actions,
            - an (H, S, A) array of action probabilities,
            - an object whose ``table(observations)`` returns the first of these,
            - a callable ``policy(obs, step)`` that returns an action, always the same one; it is called H·S times;

            in linear-quadratic environments the gains (H, m, d) of the policy a = −K_h s.
        horizon: Number of steps H ≥ 1.
    """
    model, horizon = _require_model(env), check_horizon(horizon)
    if isinstance(model, FiniteModel):
        return evaluate_finite(model, policy, horizon)
    if isinstance(model, TableModel):
        return evaluate_table(model, policy, horizon)
    if isinstance(model, LinearQuadraticModel):
        return evaluate_linear_policy(model, policy, horizon)
    return evaluate_smooth(model, policy, horizon)


def _require_model(env: Any) -> Model:
    model = known_model(env)
    if model is None:
        raise InputError(
            "an exact value needs a known model: env.unwrapped must expose arrays P (S, A, S) and R (S, A), "
            "a cmerl.oracles.TableModel as model, or "
            "dynamics that are a cmerl.oracles.SmoothModel or LinearQuadraticModel."
        )
    return model
