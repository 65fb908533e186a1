"""The weight of each transition in a predicted displacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.regression import rbf_matrix
from cmerl.embedding.displacement.stacked import rbf_features
from cmerl.kernels.fitting import Fit
from cmerl.linalg import Cholesky

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
    features, rows, basis = rbf_features(X, fit, centres)
    asked = rbf_matrix(Xq / fit.lengthscales, X[rows] / fit.lengthscales) @ basis
    around = features - features.mean(axis=0)  # Y is regressed around its mean
    return np.asarray(mean + asked @ Cholesky.of(features.T @ features, fit.ridge).solve(around.T))
