"""Lengthscales, weight and ridge of an additive kernel from data, by marginal likelihood.

Many rewards are a sum: what a place pays, and what an action costs. The first often has a cusp, like a distance, and
the second is smooth. So the kernel is k((s, a), (s', a')) = Matérn-3/2(s, s') + w·RBF(a, a').
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.growing import Arrays
from cmerl.kernels.fitting import LENGTHSCALES, RIDGES, START, profile_evidence, squared_differences

FloatArray = NDArray[np.float64]

WEIGHTS = (1e-3, 1e3)


@dataclass(frozen=True)
class AdditiveFit:
    """A Matérn-3/2 kernel of states plus an RBF kernel of actions, and the noise that goes with them.

    Attributes:
        state_lengthscales: (d,).
        action_lengthscales: (e,).
        weight: w, the variance of what actions add over that of what states do.
        ridge: the variance of the noise over that of what states add.
        evidence: the log marginal likelihood, up to a constant.
    """

    state_lengthscales: FloatArray
    action_lengthscales: FloatArray
    weight: float
    ridge: float
    evidence: float

    def arrays(self) -> Arrays:
        """For saving."""
        return {
            "state_lengthscales": self.state_lengthscales,
            "action_lengthscales": self.action_lengthscales,
            "numbers": np.array([self.weight, self.ridge, self.evidence]),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> AdditiveFit:
        """The fit that was saved."""
        return cls(arrays["state_lengthscales"], arrays["action_lengthscales"], *arrays["numbers"].tolist())


def fit_additive(S: FloatArray, A: FloatArray, y: FloatArray, *, lengthscale: float, most_steps: int) -> AdditiveFit:
    """The kernel under which y (n,) is most likely, given states (n, d) and actions (n, e) of about unit variance.

    Args:
        S: states.
        A: actions.
        y: outputs of mean 0.
        lengthscale: of all columns, to begin with.
        most_steps: of the ascent.
    """
    from scipy.optimize import minimize  # slow to import

    d, e = S.shape[1], A.shape[1]
    states, actions = squared_differences(S), squared_differences(A)
    begin = np.log([lengthscale] * (d + e) + [1.0, START[1]])
    bounds = [tuple(np.log(LENGTHSCALES))] * (d + e) + [tuple(np.log(WEIGHTS)), tuple(np.log(RIDGES))]

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_evidence(theta, states, actions, y)
        return -value, -gradient

    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": most_steps})
    scales, (weight, ridge) = np.exp(found.x[: d + e]), np.exp(found.x[d + e :]).tolist()
    return AdditiveFit(scales[:d], scales[d:], weight, ridge, -float(found.fun))


def log_evidence(
    theta: FloatArray, states: FloatArray, actions: FloatArray, y: FloatArray
) -> tuple[float, FloatArray]:
    """The log marginal likelihood of y (n,) up to a constant, and its gradient.

    Args:
        theta: logarithms of the lengthscales of states and of actions, of w, and of the ridge (d + e + 2,).
        states: ``squared_differences`` of states (d, n, n).
        actions: the same of actions (e, n, n).
        y: outputs of mean 0.
    """
    d, e = len(states), len(actions)
    inverse = np.exp(-2.0 * theta[: d + e])
    weight, ridge = np.exp(theta[d + e :]).tolist()
    q = np.sqrt(3.0 * np.einsum("jik,j->ik", states, inverse[:d]))
    fall = np.exp(-q)
    of_actions = weight * np.exp(-0.5 * np.einsum("jik,j->ik", actions, inverse[d:]))
    value, slope = profile_evidence((1.0 + q) * fall + of_actions, ridge, y[:, None])
    by_state = 3.0 * np.einsum("ik,jik->j", slope * fall, states) * inverse[:d]  # ∂k/∂log ℓ_j = 3 e^−q Δ_j²/ℓ_j²
    by_action = np.einsum("ik,jik->j", slope * of_actions, actions) * inverse[d:]
    others = [float(np.sum(slope * of_actions)), float(np.trace(slope)) * ridge]
    return value, np.concatenate([by_state, by_action, others])
