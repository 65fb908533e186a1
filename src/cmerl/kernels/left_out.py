"""The error of a regression on groups of rows that are left out, without a new regression for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.kernels.fitting import Fit
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def left_out_residuals(fit: Fit, squares: FloatArray, y: FloatArray, groups: IntArray) -> FloatArray:
    """What predictions of y (n,) miss (n,), each group's rows predicted from all other groups.

    With G = (K + ridge·I)⁻¹, the residuals of the rows g are G_gg⁻¹ (G y)_g, by the inverse of a matrix in blocks.

    Args:
        fit: lengthscales and ridge.
        squares: squared differences of the inputs in each column (d, n, n).
        y: outputs of mean 0.
        groups: the number of the group of each row (n,).
    """
    K = np.exp(-0.5 * np.einsum("jik,j->ik", squares, np.square(1.0 / fit.lengthscales)))
    G = Cholesky.of(K, fit.ridge).solve(np.eye(len(K)))
    weights, missed = G @ y, np.empty(len(y))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        missed[rows] = Cholesky.of(G[np.ix_(rows, rows)], 0.0).solve(weights[rows])
    return missed
