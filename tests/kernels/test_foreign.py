"""scikit-learn kernels and plain functions used as kernels."""

import math
import subprocess
import sys

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, CallableKernel, Linear, SklearnKernel, as_kernel

X = np.random.default_rng(6).normal(size=(150, 2))
Y = np.random.default_rng(7).normal(size=(20, 2))


def linear(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B.T


def test_our_kernels_pass_unchanged() -> None:
    k = RBF(0.3)
    assert as_kernel(k) is k


def test_sklearn_kernels_are_wrapped() -> None:
    theirs = 4.0 * sk.RBF(0.5) + sk.ConstantKernel(5.0)
    k = as_kernel(theirs)
    assert isinstance(k, SklearnKernel)
    np.testing.assert_allclose(k(X, Y), theirs(X, Y))
    np.testing.assert_allclose(k(X), theirs(X))
    np.testing.assert_allclose(k.diag(X), theirs.diag(X))
    assert k.bound == pytest.approx(3.0)
    assert k.nonnegative
    assert k == as_kernel(4.0 * sk.RBF(0.5) + sk.ConstantKernel(5.0))
    assert hash(k) == hash(as_kernel(4.0 * sk.RBF(0.5) + sk.ConstantKernel(5.0)))


def test_sklearn_kernels_with_one_lengthscale_per_column_have_a_bound() -> None:
    assert as_kernel(sk.RBF([0.5, 2.0])).bound == 1.0


def test_sklearn_kernels_that_are_not_stationary_have_no_bound() -> None:
    k = as_kernel(sk.DotProduct())
    assert k.bound == math.inf
    assert not k.nonnegative
    assert not as_kernel(sk.RBF() + sk.DotProduct()).nonnegative


def test_an_unknown_kernel_named_like_a_known_one_is_not_taken_to_be_nonnegative() -> None:
    signed = type("RBF", (sk.DotProduct,), {"__module__": "elsewhere"})
    assert not as_kernel(signed()).nonnegative


def test_sklearn_kernels_combine_with_ours() -> None:
    np.testing.assert_allclose((RBF(0.5) + sk.RBF(0.5))(X, Y), 2.0 * RBF(0.5)(X, Y), rtol=1e-10)


def test_white_noise_is_refused() -> None:
    with pytest.raises(KernelError, match="WhiteKernel is observation noise, not a kernel"):
        as_kernel(2.0 * (sk.RBF() + sk.WhiteKernel()))


def test_functions_are_wrapped() -> None:
    k = as_kernel(linear)
    assert isinstance(k, CallableKernel)
    assert k.bound == math.inf
    np.testing.assert_array_equal(k(X, Y), Linear()(X, Y))
    np.testing.assert_array_equal(k(X), Linear()(X))
    np.testing.assert_allclose(k.diag(X), Linear().diag(X))
    assert k.diag(X[:0]).shape == (0,)


def test_functions_may_come_with_a_bound() -> None:
    k = CallableKernel(linear, bound=3.0)
    assert (k.bound, k.diameter) == (3.0, 6.0)
    assert CallableKernel(linear, bound=3.0, nonnegative=True).diameter == pytest.approx(3.0 * math.sqrt(2.0))


def test_functions_may_take_lists_of_objects() -> None:
    k = as_kernel(lambda A, B: [[float(a[0] == b[0]) for b in B] for a in A])
    np.testing.assert_array_equal(k(["ab", "b"], ["ac"]), [[1.0], [0.0]])
    np.testing.assert_array_equal(k.diag(["ab", "b"]), [1.0, 1.0])


def test_the_diagonal_of_a_function_needs_no_large_matrix() -> None:
    sizes = []

    def watched(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        sizes.append(len(A) * len(B))
        return A @ B.T

    as_kernel(watched).diag(X)
    assert max(sizes) < len(X) ** 2 / 4


def test_the_array_a_function_returns_is_not_overwritten() -> None:
    kept = np.eye(2)
    k = 5.0 * as_kernel(lambda A, B: kept)
    k(X[:2])
    np.testing.assert_array_equal(kept, np.eye(2))


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (3, r"a scikit-learn kernel or a function k\(X, Y\), got int 3"),
        ("RBF", "got str 'RBF'"),
        (None, "got NoneType None"),
        (RBF, r"got the class RBF: write RBF\(...\) to make one"),
        (sk.RBF, "got the class RBF"),
    ],
)
def test_anything_else_is_refused(obj: object, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        as_kernel(obj)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SklearnKernel(linear), "SklearnKernel wraps scikit-learn kernels, got function"),
        (lambda: CallableKernel(3), r"CallableKernel wraps a function k\(X, Y\), got int 3"),
        (lambda: CallableKernel(linear, bound=0.0), "bound must be positive, got 0.0"),
        (
            lambda: as_kernel(sk.RBF(0.5)).spec(),
            r"RBF\(length_scale=0.5\) cannot be saved: use the cmerl kernel of",
        ),
        (lambda: as_kernel(linear).spec(), "given as a function cannot be saved"),
        (lambda: (RBF() + linear).spec(), "given as a function cannot be saved"),
        (lambda: as_kernel(lambda A, B: np.ones(3))(X), r"returned shape \(3,\) for 150 and 150 points"),
        (lambda: as_kernel(lambda A, B: np.inf * linear(A, B))(X), "returned NaN or infinity"),
    ],
)
def test_misuse_is_refused(make, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        make()


@pytest.mark.parametrize("obj", [sk.RBF(), linear])
def test_bad_points_are_refused(obj: object) -> None:
    with pytest.raises(InputError, match=r"use X\[:, None\]"):
        as_kernel(obj)(np.zeros(3))
    with pytest.raises(InputError, match="row 0, column 0 is nan"):
        as_kernel(obj)(X, np.full((1, 2), np.nan))


def test_importing_kernels_imports_neither_sklearn_nor_scipy_spatial() -> None:
    code = (
        "import sys, cmerl.kernels as k; k.as_kernel(k.RBF()); k.as_kernel(lambda X, Y: X @ Y.T); "
        "k.RBF()([[0.0]]); print(*(m for m in ('sklearn', 'scipy.spatial') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
