"""Outliers: rows that a smooth regression misses by far, such as collisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.settings import OutlierSettings
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def outliers(
    left: FloatArray, slack: FloatArray, spread: float, settings: OutlierSettings, *, most: float
) -> BoolArray:
    """Rows (n,) that are missed by far more than others are, and by more than outputs vary; none if they are many.

    Args:
        left: residuals (n,).
        slack: 1 − leverage (n,); a residual has standard deviation ∝ √slack.
        spread: standard deviation of the output.
        settings: how far they must be missed.
        most: share of the rows that may be outliers: more are no exception.
    """
    size = np.abs(left) / np.sqrt(slack)
    usual = 1.4826 * float(np.median(size))  # the standard deviation, if residuals are normal
    found = (size > settings.far * usual) & (np.abs(left) / slack > settings.least * spread)
    return found if found.mean() < most else np.zeros(len(left), dtype=bool)


def outliers_of_a_smooth_kernel(squares: FloatArray, y: FloatArray, settings: OutlierSettings) -> BoolArray:
    """Rows (n,) that a smooth kernel misses by far when they are left out.

    Args:
        squares: squared differences of the inputs in each column (d, n, n).
        y: outputs (n,) of mean 0 and variance 1.
        settings: the kernel, and how far they must be missed.
    """
    ridge = settings.fit_ridge
    K = np.exp(-0.5 * squares.sum(axis=0) / settings.fit_width**2)
    G = Cholesky.of(K, ridge).solve(np.eye(len(K)))
    return outliers(ridge * (G @ y), ridge * np.diagonal(G), 1.0, settings, most=settings.fit_most)
