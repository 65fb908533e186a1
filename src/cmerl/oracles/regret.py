"""The regret of an episode, from optimal values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cmerl.errors import InputError
from cmerl.oracles.finite import Evaluation, Solution, gap_at
from cmerl.oracles.grid import GridEvaluation, GridSolution
from cmerl.oracles.riccati import QuadraticSolution

AnyEvaluation = Evaluation | GridEvaluation
AnySolution = Solution | GridSolution | QuadraticSolution


def policy_regret(solution: AnyEvaluation, evaluation: AnyEvaluation, s: Any) -> float:
    """Return V*(s) − V^π(s) at the first step: the regret of an episode played by one plan from ``s``."""
    if solution.V.shape != evaluation.V.shape:
        raise InputError(
            f"regret compares values of one shape (H+1, S), not {solution.V.shape} and {evaluation.V.shape}."
        )
    return solution.value(s) - evaluation.value(s)


def gap_regret(solution: AnySolution, states: ArrayLike, actions: ArrayLike) -> float:
    """Return Σ_h [V*_h(s_h) − Q*_h(s_h, a_h)], whose expectation is V* − V^π of the policy that played.

    Args:
        solution: Optimal values over H steps.
        states: States visited at steps 0 … n−1, n ≤ H: numbers (n,), or points (n, d) of a continuous world.
        actions: (n,) actions taken there; (n, m) in a linear-quadratic world.
    """
    visited, taken = np.asarray(states), np.asarray(actions)
    if isinstance(solution, QuadraticSolution):
        return float(solution.gaps(visited, taken, np.arange(len(visited))).sum())
    smooth = isinstance(solution, GridSolution) and visited.size > 0  # an empty list has no second axis
    if visited.ndim != 1 + smooth or visited.shape[:1] != taken.shape or len(visited) > solution.horizon:
        raise InputError(
            f"states and actions need one shape (n,) with n ≤ {solution.horizon}, "
            f"but have shapes {visited.shape} and {taken.shape}."
        )
    steps = np.arange(len(visited))
    if isinstance(solution, GridSolution):
        return float(solution.gaps(visited, taken, steps).sum()) if smooth else 0.0
    return float(gap_at(solution, steps, visited, taken).sum())
