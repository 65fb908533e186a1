"""Facts that hold for every kernel: symmetry, positive semi-definiteness, the diagonal, B and D, saving."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cmerl.errors import InputError
from cmerl.kernels import Kernel, from_spec

# A coarse grid makes repeated and partly equal rows likely; the floats between make everything else.
coordinates = st.one_of(st.integers(-3, 3).map(float), st.floats(-6.0, 6.0, allow_subnormal=False))
points = st.integers(1, 12).flatmap(lambda n: arrays(np.float64, (n, 2), elements=coordinates))
examples = settings(max_examples=40, deadline=None)


@examples
@given(X=points)
def test_gram_is_symmetric_and_positive_semidefinite(kernel: Kernel, X: np.ndarray) -> None:
    K = kernel(X)
    assert K.shape == (len(X), len(X))
    assert K.dtype == np.float64
    np.testing.assert_array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-12 * len(X) * max(eigenvalues[-1], 1.0)


@examples
@given(X=points, Y=points)
def test_gram_diag_and_cross_matrix_agree(kernel: Kernel, X: np.ndarray, Y: np.ndarray) -> None:
    Z = np.vstack((X, Y))
    K = kernel(Z)
    np.testing.assert_allclose(kernel.diag(Z), np.diag(K), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Y), K[: len(X), len(X) :], rtol=1e-11, atol=1e-11)


@examples
@given(X=points)
def test_bound_diameter_and_sign_hold(kernel: Kernel, X: np.ndarray) -> None:
    K, diagonal = kernel(X), kernel.diag(X)
    assert np.sqrt(diagonal.max()) <= kernel.bound * (1.0 + 1e-12)
    squared = np.add.outer(diagonal, diagonal) - 2.0 * K
    assert squared.max() <= kernel.diameter**2 * (1.0 + 1e-12) + 1e-12
    assert kernel.diameter <= 2.0 * kernel.bound * (1.0 + 1e-12)
    if kernel.nonnegative:
        assert K.min() >= 0.0


def test_gradient_is_the_limit_of_differences(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    Y, step = rng.uniform(-2.0, 2.0, (9, 2)), 1e-3
    for x in (rng.uniform(-2.0, 2.0, 2), Y[3], np.array([Y[5, 0], 0.3])):  # elsewhere, at a point, beside one
        gradient = kernel.gradient(x, Y)
        assert gradient.shape == Y.shape
        for j in range(2):
            e = step * np.eye(2)[j]
            # four points: what is left out is of the order of step⁴
            both = np.stack([e, -e])
            near, far = kernel(x + both, Y), kernel(x + 2 * both, Y)
            expected = (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12.0 * step)
            np.testing.assert_allclose(gradient[:, j], expected, rtol=1e-6, atol=2e-8 * max(kernel.bound, 1.0) ** 2)


def test_no_points_give_an_empty_matrix(kernel: Kernel) -> None:
    none, some = np.empty((0, 2)), np.ones((3, 2))
    assert kernel(none).shape == (0, 0)
    assert kernel(none, some).shape == (0, 3)
    assert kernel(some, none).shape == (3, 0)
    assert kernel.diag(none).shape == (0,)


def test_result_is_new_and_arguments_are_untouched(kernel: Kernel) -> None:
    X = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 1.0]])
    before = X.copy()
    K = kernel(X, X.copy())
    expected = K.copy()
    K[:] = np.nan
    kernel.diag(X)[:] = np.nan
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(kernel(X, X.copy()), expected)


def test_spec_survives_json(kernel: Kernel) -> None:
    spec = json.loads(json.dumps(kernel.spec(), allow_nan=False))
    again = from_spec(spec)
    assert again == kernel
    assert again.spec() == kernel.spec()
    assert hash(again) == hash(kernel)


def test_kernels_pickle(kernel: Kernel) -> None:
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"got shape \(3,\): use X\[:, None\] for 3 points .* or X\[None, :\] for one point"),
        (np.zeros((2, 2, 2)), r"shape \(n, d\) with d ≥ 1, got shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), r"shape \(n, d\) with d ≥ 1, got shape \(2, 0\)"),
        (np.array([[0.0, 1.0], [np.nan, 1.0]]), "finite, but row 1, column 0 is nan"),
        (np.array([[0.0, -np.inf]]), "finite, but row 0, column 1 is -inf"),
        (np.array([["a", "b"]]), "must be numbers, but the ndarray passed"),
    ],
)
def test_bad_points_are_refused(kernel: Kernel, X: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel(X)
    with pytest.raises(InputError, match=message):
        kernel.diag(X)
