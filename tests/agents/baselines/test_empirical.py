"""The empirical model of counts: its sparse sums are the dense ones."""

from __future__ import annotations

import numpy as np

from cmerl.agents.baselines.empirical import EmpiricalModel


def test_the_sparse_model_is_the_dense_one() -> None:
    rng = np.random.default_rng(3)
    counts = np.where(rng.random((5, 3, 6)) < 0.4, rng.integers(1, 9, (5, 3, 6)), 0).astype(float)
    counts[1, 2] = 0
    counts[0, 0] = 0
    n = counts.sum(axis=2)
    sums, V = n * rng.random((5, 3)), rng.normal(size=6)
    model = EmpiricalModel.of(counts, sums, sums)
    P = counts / np.maximum(n, 1)[..., None]
    np.testing.assert_allclose(model.expect(V), P @ V, atol=1e-12)
    np.testing.assert_allclose(model.variance(V), P @ V**2 - (P @ V) ** 2, atol=1e-12)
    np.testing.assert_array_equal(model.visits, n)
    assert EmpiricalModel.of(0 * counts, 0 * sums, 0 * sums).expect(V).tolist() == np.zeros((5, 3)).tolist()
