"""Lengthscales and ridge from data: the marginal likelihood of a smooth regression, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmerl.errors import KernelError
from cmerl.growing import Arrays
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]

LENGTHSCALES = (0.1, 30.0)  # in standard deviations: shorter resolves nothing, longer is a straight line
RIDGES = (1e-6, 1.0)
START = (2.0, 1e-3)  # smooth and nearly without noise
MOST_STEPS = 60


@dataclass(frozen=True)
class Fit:
    """An RBF kernel with one lengthscale per column, and the noise that goes with it.

    Attributes:
        lengthscales: ℓ (d,).
        ridge: the variance of the noise over that of the signal.
        evidence: the log marginal likelihood, up to a constant.
    """

    lengthscales: FloatArray
    ridge: float
    evidence: float

    def arrays(self) -> Arrays:
        """For saving."""
        return {"lengthscales": self.lengthscales, "numbers": np.array([self.ridge, self.evidence])}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Fit:
        """The fit that was saved."""
        return cls(arrays["lengthscales"], *arrays["numbers"].tolist())


def fit(
    X: FloatArray,
    Y: FloatArray,
    *,
    start: Fit | None = None,
    most_steps: int = MOST_STEPS,
    most_ridge: float = RIDGES[1],
    squares: FloatArray | None = None,
) -> Fit:
    """The ℓ and ridge under which Y (n, p) is most likely, given inputs X (n, d) of about unit variance.

    All outputs share the kernel and the ridge; the variance of each is profiled out. Deterministic: one start, then
    L-BFGS-B.

    Args:
        X: inputs.
        Y: outputs of mean 0.
        start: where to begin: an earlier fit, if there is one.
        most_steps: of the ascent.
        most_ridge: the largest ridge to consider.
        squares: ``squared_differences`` of the inputs, where they serve several fits.
    """
    from scipy.optimize import minimize  # slow to import

    d = X.shape[1]
    begin = np.log([START[0]] * d + [START[1]] if start is None else [*start.lengthscales, start.ridge])
    bounds = [tuple(np.log(LENGTHSCALES))] * d + [(np.log(RIDGES[0]), np.log(most_ridge))]
    squares = squared_differences(X) if squares is None else squares

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_evidence(theta, squares, Y)
        return -value, -gradient

    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": most_steps})
    scales = np.exp(found.x)
    return Fit(scales[:d], float(scales[d]), -float(found.fun))


def starting_at(lengthscale: float, X: FloatArray) -> Fit:
    """A start with this lengthscale for every column of the inputs (n, d), and nearly without noise."""
    return Fit(np.full(X.shape[1], lengthscale), START[1], 0.0)


def squared_differences(X: FloatArray) -> FloatArray:
    """(x_ij − x_kj)² for every column j (d, n, n)."""
    return np.square(X.T[:, :, None] - X.T[:, None, :])


def log_evidence(theta: FloatArray, squares: FloatArray, Y: FloatArray) -> tuple[float, FloatArray]:
    """The log marginal likelihood up to a constant, and its gradient in θ = (log ℓ, log ridge).

    With C = K + ridge·I, s_j² = y_jᵀC⁻¹y_j/n is the likeliest variance of output j, so that what is left is
    −½ Σ_j (n log s_j² + log det C).

    Args:
        theta: log ℓ and log ridge (d + 1,).
        squares: ``squared_differences`` of the inputs (d, n, n).
        Y: outputs of mean 0 (n, p).
    """
    d = len(squares)
    inverse_squares = np.exp(-2.0 * theta[:d])
    ridge = float(np.exp(theta[d]))
    K = np.exp(-0.5 * np.einsum("jik,j->ik", squares, inverse_squares))
    value, slope = profile_evidence(K, ridge, Y)
    by_lengthscale = np.einsum("ik,jik->j", slope * K, squares) * inverse_squares
    return value, np.append(by_lengthscale, np.trace(slope) * ridge)


def profile_evidence(K: FloatArray, ridge: float, Y: FloatArray) -> tuple[float, FloatArray]:
    """The log marginal likelihood of Y (n, p) with C = K + ridge·I, and its gradient ∂/∂C (n, n)."""
    n, p = Y.shape
    try:
        factor = Cholesky.of(K, ridge)
    except KernelError:  # so nearly singular that nothing can be said: as bad as can be
        return -1e10, np.zeros((n, n))
    inverse = factor.solve(np.eye(n))
    coef = inverse @ Y
    variances = np.maximum(np.einsum("ij,ij->j", Y, coef) / n, 1e-300)
    value = -0.5 * (n * float(np.log(variances).sum()) + p * factor.log_det)
    return value, 0.5 * ((coef / variances) @ coef.T - p * inverse)
