"""Linear environments with quadratic costs: V* and Q* in closed form by the Riccati recursion.

The state moves to A s + B a + w with E w = 0 and Cov w = W, and a step pays −(sᵀ Q s + aᵀ R a). Then V*_h(s) = −(sᵀ
P_h s + c_h) for any distribution of w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cmerl.errors import InputError
from cmerl.linalg import solve_small
from cmerl.oracles.bellman import Floats
from cmerl.oracles.wrapping import is_transformed
from cmerl.validation.episodes import check_horizon
from cmerl.validation.numbers import check_index


@dataclass(frozen=True, eq=False)
class LinearQuadraticModel:
    """A linear world with quadratic costs.

    Attributes:
        A: (d, d) effect of the state on the next one.
        B: (d, m) effect of the action.
        Q: (d, d) cost of the state, positive semi-definite.
        R: (m, m) cost of the action, positive definite.
        W: (d, d) covariance of the noise.
    """

    A: Floats
    B: Floats
    Q: Floats
    R: Floats
    W: Floats


@dataclass(frozen=True, eq=False)
class QuadraticEvaluation:
    """Values −(sᵀ P_h s + c_h) of a linear policy a = −K_h s.

    Attributes:
        model: the environment.
        K: (H, m, d) gains.
        P: (H+1, d, d).
        c: (H+1,).
    """

    model: LinearQuadraticModel
    K: Floats
    P: Floats
    c: Floats

    @property
    def horizon(self) -> int:
        """Number of steps H."""
        return len(self.K)

    def value(self, state: ArrayLike, step: int = 0) -> float:
        """Return the value of a state (d,) before ``step`` (0 … H)."""
        s, h = _vectors("a state", state, self.model.A.shape[0]), check_index("step", step, len(self.c))
        return -float(s @ self.P[h] @ s + self.c[h])


@dataclass(frozen=True, eq=False)
class QuadraticSolution(QuadraticEvaluation):
    """The values of the optimal policy a = −K_h s."""

    def q(self, state: ArrayLike, action: ArrayLike, step: int = 0) -> float:
        """Return the optimal value of taking ``action`` (m,) in a state (d,) at ``step``."""
        return self.value(state, step) - float(
            self.gaps(np.asarray(state)[None], np.asarray(action)[None], [step])[0]
        )

    def gaps(self, states: ArrayLike, actions: ArrayLike, steps: ArrayLike) -> Floats:
        """Return the gaps V* − Q* of actions (n, m) in states (n, d) at steps (n,)."""
        d, m = self.model.B.shape
        S, U, h = _vectors("states", states, d), _vectors("actions", actions, m), np.asarray(steps)
        error = U + np.einsum("nij,nj->ni", self.K[h], S)
        curvature = self.model.R + np.einsum("ji,njk,kl->nil", self.model.B, self.P[h + 1], self.model.B)
        lost: Floats = np.einsum("ni,nij,nj->n", error, curvature, error)
        return lost


def linear_quadratic_model(env: Any) -> LinearQuadraticModel | None:
    """Return the model that ``env.unwrapped`` exposes as ``dynamics``, or None."""
    if is_transformed(env):
        return None
    dynamics = getattr(getattr(env, "unwrapped", env), "dynamics", None)
    return dynamics if isinstance(dynamics, LinearQuadraticModel) else None


def solve_linear_quadratic(model: LinearQuadraticModel, horizon: int) -> QuadraticSolution:
    """V* over ``horizon`` steps by the Riccati recursion, backwards from zero."""
    return _backward(model, check_horizon(horizon), None)


def evaluate_linear_policy(model: LinearQuadraticModel, gains: ArrayLike, horizon: int) -> QuadraticEvaluation:
    """V^π of the policy a = −K_h s with given gains (H, m, d)."""
    horizon = check_horizon(horizon)
    K = np.asarray(gains, dtype=np.float64) if not callable(gains) else np.empty(0)
    if K.shape != (horizon, *model.B.T.shape):
        raise InputError(
            f"in a linear-quadratic environment V^π is known for linear policies: pass gains of shape "
            f"{(horizon, *model.B.T.shape)}, the actions being −K_h s."
        )
    found = _backward(model, horizon, K)
    return QuadraticEvaluation(model, found.K, found.P, found.c)


def _backward(model: LinearQuadraticModel, horizon: int, gains: Floats | None) -> QuadraticSolution:
    d, m = model.B.shape
    K, P, c = np.zeros((horizon, m, d)), np.zeros((horizon + 1, d, d)), np.zeros(horizon + 1)
    for h in reversed(range(horizon)):
        after = P[h + 1]
        if gains is None:
            K[h] = solve_small(model.R + model.B.T @ after @ model.B, model.B.T @ after @ model.A)
        else:
            K[h] = gains[h]
        closed = model.A - model.B @ K[h]
        # Joseph's form: symmetric, and right for any gain, optimal or not
        P[h] = model.Q + K[h].T @ model.R @ K[h] + closed.T @ after @ closed
        c[h] = c[h + 1] + np.trace(after @ model.W)
    return QuadraticSolution(model, K, P, c)


def _vectors(name: str, values: ArrayLike, size: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape[-1:] != (size,) or not np.isfinite(array).all():
        raise InputError(f"{name} must have {size} finite coordinates, but is {values!r}.")
    return array
