"""Sums, products and multiples: their matrices, their constants, and the operators that make them."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from cmerl.errors import KernelError
from cmerl.kernels import RBF, Constant, Delta, Linear, Matern, Periodic, Product, Scaled, Sum

X = np.random.default_rng(3).normal(size=(30, 2))
Y = np.random.default_rng(4).normal(size=(20, 2))


def test_sums_and_products_agree_with_sklearn() -> None:
    ours = 2.0 * RBF(0.5) * Matern(1.5, 0.8) + Linear() + 0.3
    theirs = (
        sk.ConstantKernel(2.0) * sk.RBF(0.5) * sk.Matern(0.8, nu=1.5) + sk.DotProduct(0.0) + sk.ConstantKernel(0.3)
    )
    np.testing.assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(ours.diag(X), theirs.diag(X), rtol=1e-12)


def test_operators_build_flat_expressions() -> None:
    a, b, c = RBF(1.0), RBF(2.0), RBF(3.0)
    assert a + b + c == Sum((a, b, c)) == a + (b + c)
    assert a * b * c == Product((a, b, c)) == a * (b * c)
    assert a + 0.5 == Sum((a, Constant(0.5)))
    assert 0.5 + a == Sum((Constant(0.5), a))
    assert 2.0 * a == a * 2.0 == Scaled(a, 2.0) == np.float64(2.0) * a
    assert 3 * (2 * a) == Scaled(a, 6.0)
    assert sum([a, b]) == a + b


def test_constants_of_sums_and_multiples() -> None:
    k = Linear(2.0) + 4.0 * RBF() + 7.0
    assert k.bound == pytest.approx(math.sqrt(4.0 + 4.0 + 7.0))
    assert k.diameter == pytest.approx(math.sqrt(16.0 + 4.0 * 2.0))
    assert not k.nonnegative
    assert (RBF() + Delta()).nonnegative


def test_sum_diameter_is_attained() -> None:
    k = Delta() + 5.0
    K = k(np.array([[0.0], [1.0]]))
    assert k.diameter == pytest.approx(math.sqrt(K[0, 0] + K[1, 1] - 2.0 * K[0, 1]))


def test_product_diameter_is_the_smaller_of_two_bounds() -> None:
    narrow = Periodic((1.0,), 20.0)
    assert (narrow * narrow).diameter == pytest.approx(2.0 * narrow.diameter)  # one factor at a time
    assert (RBF() * Delta()).diameter == pytest.approx(math.sqrt(2.0))  # from the bound alone
    assert (Linear(3.0) * RBF()).diameter == pytest.approx(6.0)


def test_a_constant_factor_keeps_the_diameter_of_the_other() -> None:
    assert (Constant(4.0) * Linear(1.0)).diameter == pytest.approx(4.0)
    unbounded = Constant(4.0) * Linear()
    assert unbounded.bound == unbounded.diameter == math.inf
    assert (Constant(4.0) * Constant(9.0)).diameter == 0.0


@dataclass(frozen=True)
class OnUnitBall(Linear):
    """The linear kernel on a ball of radius 1 with an unknown centre: no bound, yet a diameter."""

    @property
    def diameter(self) -> float:
        return 2.0


def test_a_constant_factor_needs_no_bound_on_the_other() -> None:
    assert OnUnitBall().bound == math.inf
    assert (Constant(9.0) * OnUnitBall()).diameter == pytest.approx(6.0)


def test_unbounded_parts_make_unbounded_sums() -> None:
    assert (Linear() + 1.0).bound == math.inf
    assert (2.0 * Linear()).diameter == math.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -1.0 * RBF(), "c must be positive and finite, got -1.0"),
        (lambda: 0.0 * RBF(), "c must be positive and finite, got 0.0"),
        (lambda: RBF() + -1.0, "c must be positive and finite, got -1.0"),
        (lambda: Scaled(RBF(), math.inf), "c must be positive and finite, got inf"),
        (lambda: Sum(()), "needs at least one kernel, got none"),
        (lambda: Product(()), "needs at least one kernel, got none"),
        (lambda: Sum((RBF(), 3)), "Expected a cmerl kernel, .* got int 3"),
        (lambda: RBF() + "x", "Expected a cmerl kernel, .* got str 'x'"),
        (lambda: np.ones(2) * RBF(), "Expected a cmerl kernel, .* got ndarray"),
    ],
)
def test_bad_parts_are_refused(make, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        make()
