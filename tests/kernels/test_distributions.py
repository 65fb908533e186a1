"""Kernels on probability vectors against SciPy's distances, and on random samples."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.metrics.pairwise import chi2_kernel

from cmerl.errors import InputError
from cmerl.kernels import Bhattacharyya, ChiSquare, JensenShannon, from_spec

P = np.random.default_rng(0).dirichlet(np.full(4, 0.5), 12)
P[0] = [1.0, 0.0, 0.0, 0.0]
P[1] = [0.0, 0.5, 0.5, 0.0]


def test_values_are_those_of_other_libraries():
    js = np.array([[jensenshannon(p, q) ** 2 if (p != q).any() else 0.0 for q in P] for p in P])
    np.testing.assert_allclose(JensenShannon(2.0)(P), np.exp(-2.0 * js), rtol=1e-10)
    np.testing.assert_allclose(ChiSquare(0.7)(P), chi2_kernel(P, gamma=0.7), rtol=1e-10)
    hellinger = np.array([[np.sum((np.sqrt(p) - np.sqrt(q)) ** 2) / 2 for q in P] for p in P])
    np.testing.assert_allclose(Bhattacharyya()(P), 1.0 - hellinger, atol=1e-12)


@pytest.mark.parametrize("kernel", [Bhattacharyya(), JensenShannon(3.0), ChiSquare(2.0)])
def test_matrices_are_positive_semidefinite(kernel):
    K = kernel(P)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diag(K), kernel.diag(P), atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert from_spec(json.loads(json.dumps(kernel.spec()))) == kernel


@pytest.mark.parametrize("row", [[0.5, 0.6], [1.5, -0.5]])
def test_rows_that_are_no_distribution_are_named(row):
    with pytest.raises(InputError, match="row 1 is not a probability vector"):
        Bhattacharyya()(np.array([[0.5, 0.5], row]))
