"""An oracle for balls of laws: the largest mean by a linear program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

Program = Callable[[np.ndarray, np.ndarray, float], float]


@pytest.fixture(scope="session")
def by_linear_program() -> Program:
    """max q·v over laws q with ‖q − p‖₁ ≤ radius; variables q and slacks u ≥ |q − p|."""

    def largest(p: np.ndarray, v: np.ndarray, radius: float) -> float:
        K = len(p)
        eye = np.eye(K)
        found = linprog(
            np.concatenate([-v, np.zeros(K)]),
            A_ub=np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, K)), np.ones((1, K))]]),
            b_ub=np.concatenate([p, -p, [radius]]),
            A_eq=np.concatenate([np.ones(K), np.zeros(K)])[None],
            b_eq=[1.0],
        )
        assert found.success
        return -float(found.fun)

    return largest
