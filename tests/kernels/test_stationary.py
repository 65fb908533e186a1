"""RBF, Matérn, rational quadratic and periodic kernels against scikit-learn and against their definitions."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, Kernel, Matern, Periodic, RationalQuadratic, distances

RADIAL = [
    RBF(0.7),
    RationalQuadratic(0.4, 0.7),
    RationalQuadratic(1.0, 0.7),
    Matern(0.5, 0.7),
    Matern(1.5, 0.7),
]
SCALES = (0.4, 1.0, 3.0)


@pytest.fixture(autouse=True, scope="module", params=[distances.FEW, 0], ids=["differences", "products"])
def few(request: pytest.FixtureRequest) -> Iterator[None]:
    """All that holds for a few points must hold for the many whose distances come from a matrix product."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "FEW", request.param)
        yield


@pytest.fixture
def XY() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(40, 3)), rng.normal(size=(25, 3))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RBF(0.7), sk.RBF(0.7)),
        (RBF(SCALES), sk.RBF(SCALES)),
        (RBF(1e-3), sk.RBF(1e-3)),
        (Matern(0.5, 0.7), sk.Matern(0.7, nu=0.5)),
        (Matern(1.5, 0.7), sk.Matern(0.7, nu=1.5)),
        (Matern(2.5, 0.7), sk.Matern(0.7, nu=2.5)),
        (Matern(2.5, SCALES), sk.Matern(SCALES, nu=2.5)),
        (RationalQuadratic(1.0, 0.7), sk.RationalQuadratic(0.7, alpha=1.0)),
        (RationalQuadratic(2.5, 0.7), sk.RationalQuadratic(0.7, alpha=2.5)),
    ],
    ids=repr,
)
def test_agrees_with_sklearn(ours: Kernel, theirs: sk.Kernel, XY: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = XY
    np.testing.assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(ours(X), theirs(X), rtol=1e-10, atol=1e-14)


def test_periodic_agrees_with_sklearn_in_one_dimension() -> None:
    X = np.linspace(-4.0, 7.0, 50)[:, None]
    theirs = sk.ExpSineSquared(length_scale=0.6, periodicity=2.5)
    np.testing.assert_allclose(Periodic(2.5, 0.6)(X), theirs(X), rtol=1e-10)


def test_periodic_is_a_product_over_columns(XY: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = XY
    expected = math.prod(
        Periodic(p, ell)(X[:, [j]], Y[:, [j]]) for j, (p, ell) in enumerate(zip((1.0, 2.0, 5.0), SCALES, strict=True))
    )
    np.testing.assert_allclose(Periodic((1.0, 2.0, 5.0), SCALES)(X, Y), expected, rtol=1e-10)


@pytest.mark.parametrize("make", [RBF, lambda ell: Matern(1.5, ell), lambda ell: RationalQuadratic(0.5, ell)])
def test_one_lengthscale_per_column_rescales_the_columns(make, XY: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = XY
    np.testing.assert_allclose(make(SCALES)(X, Y), make(1.0)(X / SCALES, Y / SCALES), rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [RBF(), RationalQuadratic(), RationalQuadratic(0.3), Matern(), Periodic()], ids=repr
)
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 40),
    spread=st.floats(-3.0, 6.0).map(lambda e: 10.0**e),
    offset=st.sampled_from([0.0, 1.0, 1e3]),
)
def test_a_point_and_its_copy_have_kernel_one(
    kernel: Kernel, seed: int, d: int, spread: float, offset: float
) -> None:
    X = offset + spread * np.random.default_rng(seed).normal(size=(30, d))
    K = kernel(X, X.copy())
    assert np.abs(np.diag(K) - 1.0).max() <= 1e-12
    assert K.max() <= 1.0
    np.testing.assert_array_equal(np.diag(kernel(X)), 1.0)


@pytest.mark.parametrize("far", [0.0, 10.0, 1e3, 1e5])
def test_distant_points_do_not_disturb_close_ones(far: float, XY: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = (np.vstack((Z, Z + far)) for Z in XY)
    np.testing.assert_allclose(RBF(0.7)(X, Y), sk.RBF(0.7)(X, Y), rtol=1e-10, atol=1e-12)
    theirs = sk.RationalQuadratic(0.7, alpha=0.5)
    np.testing.assert_allclose(RationalQuadratic(0.5, 0.7)(X, Y), theirs(X, Y), rtol=1e-10, atol=1e-12)


def test_matern_keeps_its_digits_at_small_distances() -> None:
    r = 1e-9
    K = Matern(0.5)(np.array([[1000.0]]), np.array([[1000.0 + r]]))
    exact = (1000.0 + r) - 1000.0  # the distance between the two floats
    assert 1.0 - K[0, 0] == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_in_single_precision_is_rounded_and_no_more(nu: float, XY: tuple[np.ndarray, np.ndarray]) -> None:
    kernel = Matern(nu, 0.7)
    single = kernel.single(*XY)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(*XY), rtol=1e-5, atol=1e-7)


def test_rational_quadratic_tends_to_rbf(XY: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_allclose(RationalQuadratic(1e9, 0.7)(*XY), RBF(0.7)(*XY), atol=1e-8)


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_diameter_is_approached_by_distant_points(kernel: Kernel) -> None:
    K = kernel(np.array([[0.0], [1e9]]))
    assert kernel.diameter == pytest.approx(math.sqrt(2.0))
    assert math.sqrt(2.0 - 2.0 * K[0, 1]) == pytest.approx(kernel.diameter, rel=1e-6)


@pytest.mark.parametrize(
    "kernel", [Periodic((3.0,), 1.5), Periodic(3.0, (1.5, 2.0)), Periodic((3.0, 3.0), 1.5)], ids=repr
)
def test_periodic_diameter_is_attained_half_a_period_apart(kernel: Periodic) -> None:
    d = max(len(p) for p in (kernel.period, kernel.lengthscale) if isinstance(p, tuple))
    K = kernel(np.vstack((np.zeros(d), np.full(d, 1.5))))
    assert math.sqrt(2.0 - 2.0 * K[0, 1]) == pytest.approx(kernel.diameter, rel=1e-12)
    assert kernel.diameter < math.sqrt(2.0)


def test_periodic_diameter_holds_for_any_count_of_columns_if_the_count_is_unknown() -> None:
    assert Periodic(1.0, 2.0).diameter == math.sqrt(2.0)


def test_lengthscales_are_stored_as_numbers_or_tuples() -> None:
    assert RBF(np.array([1, 2])).lengthscale == (1.0, 2.0)
    assert RBF([1, 2]) == RBF((1.0, 2.0))
    assert isinstance(RBF(np.float32(0.5)).lengthscale, float)
    assert RBF(np.array(2.0)) == RBF(2.0)
    assert Matern(1.5, 0.3) == Matern(nu=1.5, lengthscale=0.3)
    assert RationalQuadratic(2.0, 0.3) == RationalQuadratic(shape=2.0, lengthscale=0.3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "lengthscale must be positive and finite, got 0.0"),
        (lambda: RBF((1.0, -2.0)), "lengthscale must be positive and finite, got -2.0"),
        (lambda: RBF(math.nan), "lengthscale must be positive and finite, got nan"),
        (lambda: RBF("long"), "lengthscale must be a positive number, got 'long'"),
        (lambda: RBF([[1.0]]), r"lengthscale must be a positive number, got \[1.0\]"),
        (lambda: RBF(()), "one number per column, got an empty sequence"),
        (lambda: Matern(3.5), "nu must be 0.5, 1.5 or 2.5, got 3.5"),
        (lambda: Matern(1.5, -1.0), "lengthscale must be positive"),
        (lambda: RationalQuadratic(-1.0), "shape must be positive"),
        (lambda: Periodic(0.0), "period must be positive"),
        (lambda: Periodic(1.0, math.inf), "lengthscale must be positive and finite, got inf"),
        (lambda: Periodic((1.0, 2.0), (1.0, 2.0, 3.0)), "period has 2 entries but lengthscale has 3"),
    ],
)
def test_bad_parameters_are_refused(make, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        make()


@pytest.mark.parametrize(
    ("kernel", "name"),
    [(RBF(SCALES), "lengthscale"), (Periodic(SCALES), "period"), (Periodic(1.0, SCALES), "lengthscale")],
)
def test_wrong_number_of_columns_is_refused(kernel: Kernel, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} has 3 entries but the points have 2 columns"):
        kernel(np.zeros((4, 2)))
    with pytest.raises(InputError, match=f"{name} has 3 entries"):
        kernel.diag(np.zeros((4, 2)))


def test_points_must_have_the_same_columns() -> None:
    with pytest.raises(InputError, match="X has 3 columns but Y has 2"):
        RBF()(np.zeros((1, 3)), np.zeros((1, 2)))


def test_nested_lists_of_numbers_are_points() -> None:
    np.testing.assert_allclose(RBF()([[0.0], [1.0]]), [[1.0, math.exp(-0.5)], [math.exp(-0.5), 1.0]])
    with pytest.raises(InputError, match="but the list passed cannot be read as a float array"):
        RBF()(["a", "b"])
