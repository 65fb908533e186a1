"""Kernel values depend on the two points alone, wherever the others lie."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from cmerl.embedding import compressed, nystrom
from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, Kernel, Linear, Matern, Periodic, Polynomial, RationalQuadratic
from cmerl.kernels.base import VectorKernel
from cmerl.transitions import Transitions

CLOSED = {
    RBF(0.1): lambda r: math.exp(-0.5 * r * r),
    RBF((0.1,)): lambda r: math.exp(-0.5 * r * r),
    Matern(0.5, 0.1): lambda r: math.exp(-r),
    Matern(1.5, (0.1,)): lambda r: (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r),
    Matern(2.5, 0.1): lambda r: (1 + math.sqrt(5) * r + 5 * r * r / 3) * math.exp(-math.sqrt(5) * r),
    RationalQuadratic(1.0, 0.1): lambda r: 1 / (1 + r * r / 2),
}


@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
@pytest.mark.parametrize("others", [[], [1e17], [1e300, -1e308], list(np.linspace(0, 1, 400))])
@pytest.mark.parametrize("shift", [0.0, 2.0**30])
def test_unrelated_points_change_nothing(kernel: Kernel, others: list[float], shift: float) -> None:
    x, y = shift, shift + 0.0625  # both are exact
    K = kernel(np.array([[x], [y], *([o] for o in others)]))
    assert K[0, 1] == pytest.approx(CLOSED[kernel](0.0625 / 0.1), abs=1e-11)
    assert np.isfinite(K).all()


def test_an_angle_may_be_far_from_zero() -> None:
    assert Periodic(1.0, 1.0)([[2.0**40], [2.0**40 + 0.25]])[0, 1] == pytest.approx(math.exp(-2 * 0.5), abs=1e-12)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3)])
def test_products_that_overflow_are_refused(kernel: Kernel) -> None:
    with pytest.raises(InputError, match="overflows"):
        kernel([[1e200], [1.0]])


@dataclass(frozen=True)
class Holes(VectorKernel):
    """A user's kernel that is NaN far out."""

    bound = 1.0

    def _matrix(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.where(np.abs(X[:, :1]) > 5.0, np.nan, RBF(1.0)(X, Y))

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X))


@pytest.mark.parametrize("make", [lambda k: compressed(k, RBF(1.0), 0.1), lambda k: nystrom(k, 0.1)])
def test_nan_of_a_users_kernel_never_reaches_an_answer(make) -> None:
    embedding = make(Holes())
    X = np.linspace(-1, 1, 30)[:, None]
    embedding.update(Transitions.of(X, X))
    with pytest.raises(KernelError, match="Holes returned NaN or infinity"):
        embedding.update(Transitions.of([[9.0]], [[0.0]]))
    assert embedding.n == 30
    assert np.isfinite(embedding.std(X)).all()
