"""Ridges by errors on parts left out: against regressions made without each part."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.displacement.left_out import best_ridge, left_out_errors
from cmerl.embedding.displacement.settings import RidgeSettings

RIDGES = (1e-3, 0.1, 10.0)


def data(noise: float, n: int = 41, m: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, m))
    return features, features[:, 0] + noise * rng.normal(size=n)


@pytest.mark.parametrize("folds", [2, 4, 100])
def test_errors_are_those_of_regressions_made_without_each_part(folds: int) -> None:
    features, y = data(0.3)
    missed = np.empty((len(y), len(RIDGES)))
    for rows in np.array_split(np.arange(len(y)), min(folds, len(y))):
        others = np.setdiff1d(np.arange(len(y)), rows)
        for k, ridge in enumerate(RIDGES):
            A, b = features[others], y[others]
            stacked = np.vstack([A, np.sqrt(ridge) * np.eye(A.shape[1])])
            coef = np.linalg.lstsq(stacked, np.append(b, np.zeros(A.shape[1])), rcond=None)[0]
            missed[rows, k] = y[rows] - features[rows] @ coef
    np.testing.assert_allclose(left_out_errors(features, y, RIDGES, folds), np.abs(missed).mean(axis=0), rtol=1e-8)


def test_noise_asks_for_a_larger_ridge() -> None:
    settings = RidgeSettings(candidates=(1e-6, 1.0, 100.0))
    assert best_ridge(*data(0.0), settings) == 1e-6
    assert best_ridge(*data(5.0), settings) == 100.0
