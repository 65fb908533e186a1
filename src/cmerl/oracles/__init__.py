"""Oracles: V*, Q* and V^π by dynamic programming on a known model."""

from __future__ import annotations

from cmerl.oracles.bellman import SUM_TOLERANCE, Floats, Integers
from cmerl.oracles.dispatch import Model, evaluate, known_model, solve
from cmerl.oracles.finite import Evaluation, FiniteModel, Solution, finite_model, gap_at
from cmerl.oracles.grid import (
    Grid,
    GridEvaluation,
    GridSolution,
    SmoothModel,
    evaluate_smooth,
    smooth_model,
    solve_smooth,
)
from cmerl.oracles.operators import operator_norm
from cmerl.oracles.regret import AnySolution, gap_regret, policy_regret
from cmerl.oracles.riccati import (
    LinearQuadraticModel,
    QuadraticEvaluation,
    QuadraticSolution,
    evaluate_linear_policy,
    linear_quadratic_model,
    solve_linear_quadratic,
)
from cmerl.oracles.tables import TableModel, table_model

__all__ = [
    "SUM_TOLERANCE",
    "AnySolution",
    "Evaluation",
    "FiniteModel",
    "Floats",
    "Grid",
    "GridEvaluation",
    "GridSolution",
    "Integers",
    "LinearQuadraticModel",
    "Model",
    "QuadraticEvaluation",
    "QuadraticSolution",
    "SmoothModel",
    "Solution",
    "TableModel",
    "evaluate",
    "evaluate_linear_policy",
    "evaluate_smooth",
    "finite_model",
    "gap_at",
    "gap_regret",
    "known_model",
    "linear_quadratic_model",
    "operator_norm",
    "policy_regret",
    "smooth_model",
    "solve",
    "solve_linear_quadratic",
    "solve_smooth",
    "table_model",
]
