"""Constant, linear and polynomial kernels against scikit-learn, explicit features and their own bounds."""

import math

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from cmerl.errors import InputError, KernelError
from cmerl.kernels import Constant, Linear, Polynomial


@pytest.fixture
def XY() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.normal(size=(30, 2)), rng.normal(size=(20, 2))


def test_linear_and_constant_agree_with_sklearn(XY: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_allclose(Linear()(*XY), sk.DotProduct(sigma_0=0.0)(*XY), rtol=1e-12)
    np.testing.assert_allclose(Constant(0.3)(*XY), sk.ConstantKernel(0.3)(*XY))


def test_polynomial_is_the_inner_product_of_monomials(XY: tuple[np.ndarray, np.ndarray]) -> None:
    def features(X: np.ndarray) -> np.ndarray:
        x, y = X.T
        r = math.sqrt(2.0)
        return np.column_stack(
            (x**2, y**2, r * x * y, r * x * math.sqrt(0.5), r * y * math.sqrt(0.5), np.full(len(X), 0.5))
        )

    X, Y = XY
    np.testing.assert_allclose(Polynomial(2, 0.5)(X, Y), features(X) @ features(Y).T, rtol=1e-10, atol=1e-12)


def test_constant_ignores_what_the_points_are() -> None:
    np.testing.assert_array_equal(Constant(2.0)(["a", object()], ["b"]), [[2.0], [2.0]])
    np.testing.assert_array_equal(Constant(2.0).diag(["a", "b"]), [2.0, 2.0])
    assert Constant(4.0).bound == 2.0
    assert Constant(4.0).diameter == 0.0


def test_unbounded_without_a_radius() -> None:
    assert Linear().bound == math.inf
    assert Linear().diameter == math.inf
    assert Polynomial(2).bound == math.inf
    assert Polynomial(2).diameter == math.inf
    assert Polynomial(3).diameter == math.inf
    assert Polynomial(2).nonnegative
    assert not Polynomial(3).nonnegative
    assert not Linear(1.0).nonnegative


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(2.0),
        Polynomial(1, 0.0, 2.0),
        Polynomial(3, 1.0, 2.0),
        Polynomial(3, 5.0, 2.0),
        Polynomial(2, 5.0, 2.0),
    ],
    ids=repr,
)
def test_bound_and_diameter_are_attained_at_opposite_points(kernel: Linear | Polynomial) -> None:
    K = kernel(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    assert math.sqrt(K[0, 0]) == pytest.approx(kernel.bound)
    assert math.sqrt(K[0, 0] + K[1, 1] - 2.0 * K[0, 1]) == pytest.approx(kernel.diameter)
    assert kernel.nonnegative == bool(K[0, 1] >= 0.0)


def test_polynomial_of_even_degree_has_diameter_root_two_bounds() -> None:
    kernel = Polynomial(2, 1.0, 3.0)
    assert kernel.diameter == pytest.approx(math.sqrt(2.0) * kernel.bound)


def test_points_beyond_the_radius_are_refused() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.5]])
    for kernel in (Linear(1.0), Polynomial(2, 1.0, 1.0)):
        with pytest.raises(InputError, match=r"Row 1 has norm 1\.5, outside the declared radius 1"):
            kernel(X)
        with pytest.raises(InputError, match="outside the declared radius"):
            kernel(X[:1], X)
        with pytest.raises(InputError, match="outside the declared radius"):
            kernel.diag(X)


def test_rounding_does_not_push_unit_vectors_out() -> None:
    U = np.random.default_rng(0).normal(size=(1000, 5))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    assert np.linalg.norm(U, axis=1).max() > 1.0
    assert Linear(1.0)(U).shape == (1000, 1000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(0.0), "c must be positive and finite, got 0.0"),
        (lambda: Linear(-1.0), "radius must be positive"),
        (lambda: Polynomial(0), "degree must be positive"),
        (lambda: Polynomial(1.5), "degree must be a whole number, at least 1, got 1.5"),
        (lambda: Polynomial(2, -1.0), "a non-zero offset must be positive and finite, got -1.0"),
        (lambda: Polynomial(2, 1.0, 0.0), "radius must be positive"),
    ],
)
def test_bad_parameters_are_refused(make, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        make()
