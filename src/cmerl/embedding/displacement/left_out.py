"""The ridge of a regression, by its error on parts of the data that were left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmerl.embedding.displacement.settings import RidgeSettings
from cmerl.linalg import Cholesky

FloatArray = NDArray[np.float64]


def best_ridge(features: FloatArray, y: FloatArray, settings: RidgeSettings) -> float:
    """The ridge that predicts best what was left out (see ``left_out_errors``).

    The likelihood of a few rows, some of them rare, says little about the ridge of a regression of all.
    """
    errors = left_out_errors(features, y, settings.candidates, settings.folds)
    return settings.candidates[int(errors.argmin())]


def left_out_errors(features: FloatArray, y: FloatArray, ridges: Sequence[float], folds: int) -> FloatArray:
    """Mean absolute errors (k,) of ridge regressions of y (n,), each part of the rows predicted from all others.

    Parts are consecutive: rows follow each other in time, and neighbours tell each other.

    Args:
        features: inputs (n, m).
        y: outputs.
        ridges: k of them.
        folds: number of parts.
    """
    parts = np.array_split(np.arange(len(y)), min(folds, len(y)))
    own = [(features[rows].T @ features[rows], features[rows].T @ y[rows]) for rows in parts]
    moments, products = sum(M for M, _ in own), sum(p for _, p in own)
    missed = np.empty((len(y), len(ridges)))
    for rows, (M, p) in zip(parts, own, strict=True):
        coefs = [Cholesky.of(moments - M, ridge).solve(products - p) for ridge in ridges]
        missed[rows] = y[rows, None] - features[rows] @ np.column_stack(coefs)
    return np.asarray(np.abs(missed).mean(axis=0))
