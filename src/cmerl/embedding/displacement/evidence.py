"""The weight of each transition in a predicted displacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import NUGGET, independent_points
from cmerl.kernels.fitting import Fit
from cmerl.linalg import Cholesky
from cmerl.searching.rbf_features import RBFFeatures

FloatArray = NDArray[np.float64]


def smoother_weights(X: FloatArray, Xq: FloatArray, fit: Fit | None, centres: int) -> FloatArray:
    """Weights (q, n) such that a ridge regression of any Y (n, p) on X predicts weights @ Y at Xq.

    Args:
        X: inputs (n, d).
        Xq: queries (q, d).
        fit: lengthscales and ridge; None for outputs that do not vary, whose prediction is their mean.
        centres: most centres of the regression.
    """
    n = len(X)
    mean = np.full((len(Xq), n), 1.0 / n)
    if fit is None:
        return mean
    rows = independent_points(X / fit.lengthscales, centres)
    kernel = RBFFeatures(X[rows], fit.lengthscales)
    Knm = kernel(X)
    moments = Knm.T @ Knm + fit.ridge * Knm[rows]
    factor = Cholesky.of(moments, NUGGET * float(np.trace(moments)) / len(moments))
    around = Knm - Knm.mean(axis=0)  # Y is regressed around its mean
    return np.asarray(mean + kernel(Xq) @ factor.solve(around.T))
