"""The growing Cholesky factor against numpy: appended, solved, refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError, KernelError
from cmerl.growing import GrowingMatrix, GrowingVector
from cmerl.linalg import (
    BLOCK,
    Cholesky,
    largest_eigenvalue,
    pivoted_cholesky,
    pivots,
    random_rotation,
    triangular_inverse,
)

N = 2 * BLOCK + 88
POINTS = np.random.default_rng(0).uniform(size=(N, 2))
K = np.exp(-0.5 * ((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2) / 0.3**2)
RIDGE = np.random.default_rng(1).uniform(0.05, 0.5, size=N)
A = K + np.diag(RIDGE)
SIZES = (1, BLOCK - 1, BLOCK, BLOCK + 1, N)  # around the block boundary, and over two of them

sizes = st.sampled_from(SIZES)
examples = settings(max_examples=30, deadline=None)


def appended(stops: list[int]) -> Cholesky:
    """The factor of the leading rows of A, appended in batches that end at ``stops``."""
    factor = Cholesky()
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        rows = slice(start, stop)
        factor.append(K[rows, :start], K[rows, rows], RIDGE[rows])
    return factor


@pytest.fixture(scope="module")
def factor() -> Cholesky:
    return appended([1, 2, 200, 257, 300, 512, N])


@st.composite
def splits(draw: st.DrawFn) -> list[int]:
    n = draw(sizes)
    near_blocks = st.sampled_from([c for c in (1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK) if c < n] or [n])
    cuts = draw(st.lists(near_blocks | st.integers(1, n), max_size=8))
    return sorted({*cuts, n})


@examples
@given(stops=splits())
def test_appending_in_any_batches_gives_the_cholesky_factor(stops: list[int]) -> None:
    n = stops[-1]
    factor = appended(stops)
    L = np.linalg.cholesky(A[:n, :n])
    assert factor.n == n
    assert factor.jitter == 0.0
    np.testing.assert_allclose(factor.L, L, atol=1e-11)
    np.testing.assert_allclose(factor.diag, np.diag(L), rtol=1e-11)
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(A[:n, :n])[1], rtol=1e-10)
    B = np.column_stack([np.ones(n), POINTS[:n]])
    np.testing.assert_allclose(factor.solve(B), np.linalg.solve(A[:n, :n], B), rtol=1e-9, atol=1e-9)


def test_rows_may_come_one_at_a_time() -> None:
    factor = appended(list(range(1, BLOCK + 5)))
    np.testing.assert_allclose(factor.L, np.linalg.cholesky(A[: factor.n, : factor.n]), atol=1e-11)


def test_append_returns_its_part_of_the_diagonal() -> None:
    factor = appended([250])
    diagonal = factor.append(K[250:260, :250], K[250:260, 250:260], RIDGE[250:260])
    np.testing.assert_allclose(diagonal, np.diag(np.linalg.cholesky(A[:260, :260]))[250:], rtol=1e-11)


def test_a_row_of_the_factor_that_is_known_can_be_appended_as_it_is() -> None:
    L = np.linalg.cholesky(A[:260, :260])
    factor = appended([254])
    for i in range(254, 260):
        factor.append_row(L[i, :i], L[i, i])
    np.testing.assert_allclose(factor.L, L, atol=1e-11)
    b = np.arange(260.0)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(A[:260, :260], b), rtol=1e-9, atol=1e-9)


def test_pivots_are_the_growth_of_the_determinant() -> None:
    dets = np.array([np.linalg.det(A[:i, :i]) for i in range(1, 6)])
    np.testing.assert_allclose(pivots(A[:5, :5]), dets / np.append(1.0, dets[:-1]), rtol=1e-10)


@pytest.mark.parametrize("r", SIZES)
@pytest.mark.parametrize("shape", [(), (1,), (7,)])
def test_solves_with_all_or_the_leading_rows(factor: Cholesky, r: int, shape: tuple[int, ...]) -> None:
    B = np.random.default_rng(r).normal(size=(r, *shape))
    before = B.copy()
    half, full = factor.half_solve(B), factor.solve(B)
    np.testing.assert_array_equal(B, before)
    np.testing.assert_allclose(half, np.linalg.solve(np.linalg.cholesky(A[:r, :r]), B), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(full, np.linalg.solve(A[:r, :r], B), rtol=1e-9, atol=1e-9)
    back = factor.back_solve(B)
    np.testing.assert_array_equal(B, before)
    np.testing.assert_allclose(back, np.linalg.solve(np.linalg.cholesky(A[:r, :r]).T, B), rtol=1e-9, atol=1e-9)


@examples
@given(r=sizes, data=st.data())
def test_a_half_solve_can_be_continued_from_any_row(factor: Cholesky, r: int, data: st.DataObject) -> None:
    row = data.draw(st.sampled_from([0, r]) | st.integers(0, r))
    B = np.random.default_rng(row).normal(size=(r, 3))
    expected = np.linalg.solve(np.linalg.cholesky(A[:r, :r]), B)
    X = np.vstack([expected[:row], B[row:]])
    assert factor.half_solve_from(row, X) is X
    np.testing.assert_allclose(X, expected, rtol=1e-9, atol=1e-10)


def test_half_solve_from_writes_into_a_view_of_a_larger_buffer(factor: Cholesky) -> None:
    buffer = np.full((N + 10, 8), 7.0)
    B = np.random.default_rng(3).normal(size=(N, 5))
    buffer[:N, :5] = B
    factor.half_solve_from(0, buffer[:N, :5])
    np.testing.assert_allclose(buffer[:N, :5], np.linalg.solve(np.linalg.cholesky(A), B), atol=1e-10)
    np.testing.assert_array_equal(buffer[N:], 7.0)
    np.testing.assert_array_equal(buffer[:, 5:], 7.0)


def test_quadratic_is_the_diagonal_of_the_form(factor: Cholesky) -> None:
    B = np.random.default_rng(4).normal(size=(N, 6))
    np.testing.assert_allclose(factor.quadratic(B), np.diag(B.T @ np.linalg.solve(A, B)), rtol=1e-9)


def test_later_rows_do_not_change_what_the_leading_rows_solve() -> None:
    factor = appended([300])
    b = np.random.default_rng(5).normal(size=300)
    before = factor.solve(b)
    factor.append(K[300:, :300], K[300:, 300:], RIDGE[300:])
    np.testing.assert_allclose(factor.solve(b), before, rtol=1e-12, atol=1e-12)


def test_too_many_right_hand_rows_are_refused() -> None:
    with pytest.raises(InputError, match="right-hand side has 11 rows but the factor has 10"):
        appended([10]).solve(np.ones(11))


def test_a_singular_matrix_gets_the_least_jitter_that_works_and_says_so() -> None:
    X = np.random.default_rng(6).normal(size=(40, 3))
    singular = X @ X.T  # rank 3
    factor = Cholesky.of(singular)
    largest = singular.diagonal().max()
    assert 0.0 < factor.jitter <= 1e-8 * largest
    np.testing.assert_allclose(factor.L @ factor.L.T, singular + factor.jitter * np.eye(40), atol=1e-12 * largest)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(singular)


@pytest.mark.parametrize("scale", [1.0, 1e8])
def test_a_repeated_row_gets_the_same_jitter_in_one_go_and_appended(scale: float) -> None:
    at_once = Cholesky.of(np.full((3, 3), scale), 1e-17 * scale)
    appended = Cholesky()
    for n in range(3):
        appended.append(np.full((1, n), scale), np.full((1, 1), scale), 1e-17 * scale)
    assert at_once.jitter > 0.0
    assert 0.1 * at_once.jitter <= appended.jitter <= 1e-8 * scale


def test_the_jitter_of_the_past_is_remembered() -> None:
    factor = Cholesky.of(np.ones((2, 2)))
    jitter = factor.jitter
    factor.append(np.zeros((1, 2)), np.eye(1), 0.0)
    assert factor.jitter == jitter > 0.0


def test_an_indefinite_matrix_names_its_row() -> None:
    indefinite = np.eye(5)
    indefinite[3, 3] = -1.0
    with pytest.raises(KernelError, match=r"not positive definite at row 3\b.*or raise lam"):
        Cholesky.of(indefinite)
    with pytest.raises(KernelError, match=r"not positive definite at row 303\b"):
        appended([300]).append(np.zeros((5, 300)), indefinite, 0.1)


def test_a_negative_conditional_variance_is_found_behind_the_ridge() -> None:
    # With ridge 1 the matrix [[2, 1.5], [1.5, 2]] is positive definite, but K is not: 1 − 1.5²/2 < 0.
    hidden = np.array([[1.0, 1.5], [1.5, 1.0]])
    np.linalg.cholesky(hidden + np.eye(2))
    with pytest.raises(KernelError, match=r"not positive semi-definite: the conditional variance of row 1 is"):
        Cholesky.of(hidden, 1.0)
    factor = Cholesky.of(np.eye(2), 1.0)
    with pytest.raises(KernelError, match=r"the conditional variance of row 2, 4 is"):
        factor.append(np.array([[1.5, 0.0], [0.0, 0.0], [0.0, -1.5]]), np.eye(3), 1.0)


def test_rounding_is_not_taken_for_a_negative_variance() -> None:
    factor = Cholesky.of(np.ones((1, 1)), 1e-12)
    for n in range(1, 50):  # the same point again and again: the conditional variance is of the size of lam
        factor.append(np.ones((1, n)), np.ones((1, 1)), 1e-12)
    assert factor.log_det == pytest.approx(49 * np.log(1e-12) + np.log(50), rel=1e-3)


def refused(what: str) -> tuple[np.ndarray, np.ndarray, float]:
    """A batch of three rows for a factor of 300 that cannot be appended."""
    K21, K22 = K[300:303, :300].copy(), K[300:303, 300:303].copy()
    if what == "indefinite":
        K22[1, 1] = -5.0
    elif what == "hidden":
        K21[2] *= 3.0
        return K21, K22, 50.0
    else:
        (K21 if what == "NaN old" else K22)[1, 2] = np.nan if what != "infinity" else np.inf
    return K21, K22, 0.1


@pytest.mark.parametrize("what", ["indefinite", "hidden", "NaN old", "NaN new", "infinity"])
def test_the_factor_is_unchanged_when_an_append_fails(what: str) -> None:
    factor = appended([300])
    L, log_det, b = factor.L.copy(), factor.log_det, np.arange(300.0)
    solved = factor.solve(b)
    K21, K22, ridge = refused(what)
    if what == "hidden":
        factor = Cholesky.of(K[:300, :300], 50.0)
        L, log_det, solved = factor.L.copy(), factor.log_det, factor.solve(b)
    with pytest.raises(KernelError):
        factor.append(K21, K22, ridge)
    assert (factor.n, factor.jitter, factor.log_det) == (300, 0.0, log_det)
    np.testing.assert_array_equal(factor.L, L)
    np.testing.assert_array_equal(factor.solve(b), solved)
    factor.append(K[300:303, :300], K[300:303, 300:303], 1.0)
    np.testing.assert_array_equal(factor.L[:300, :300], L)


def test_a_kernel_that_returns_nan_is_named_as_such() -> None:
    with pytest.raises(KernelError, match="returned NaN or infinity for rows 0 to 1"):
        Cholesky.of(np.full((2, 2), np.nan))
    with pytest.raises(KernelError, match="returned NaN or infinity for rows 4 to 4"):
        appended([4]).append(np.full((1, 4), np.inf), np.eye(1), 0.1)


@examples
@given(shapes=st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=1, max_size=8))
def test_a_matrix_keeps_its_content_as_it_grows(shapes: list[tuple[int, int]]) -> None:
    matrix, expected = GrowingMatrix(), np.zeros((0, 0))
    for number, (more_rows, more_cols) in enumerate(shapes, start=1):
        (rows, cols), (r, c) = expected.shape, matrix.shape
        view = matrix.resize(rows + more_rows, cols + more_cols)
        grown = np.zeros(view.shape)
        grown[:r, :c] = expected
        np.testing.assert_array_equal(view, grown)
        view[r:], view[:, c:] = number, -number
        grown[r:], grown[:, c:] = number, -number
        expected = grown
        np.testing.assert_array_equal(matrix.view, expected)


@examples
@given(batches=st.lists(st.lists(st.integers(-100, 100), max_size=60), max_size=10))
@pytest.mark.parametrize("dtype", [np.float64, np.intp])
def test_a_vector_keeps_its_content_as_it_grows(dtype: type, batches: list[list[int]]) -> None:
    vector, expected = GrowingVector(dtype), []
    for batch in batches:
        early = vector.view
        vector.extend(np.array(batch, dtype=dtype))
        np.testing.assert_array_equal(early, expected)
        expected += batch
        assert len(vector) == len(expected)
        assert vector.view.dtype == dtype
        np.testing.assert_array_equal(vector.view, expected)


def test_triangular_inverse_and_its_failure() -> None:
    L = np.linalg.cholesky(A[:50, :50])
    np.testing.assert_allclose(triangular_inverse(L) @ L, np.eye(50), atol=1e-10)
    L[7, 7] = 0.0
    with pytest.raises(KernelError, match="singular at row 7"):
        triangular_inverse(L)


def test_largest_eigenvalue() -> None:
    Q = np.linalg.qr(np.random.default_rng(8).normal(size=(4, 4)))[0]
    assert largest_eigenvalue(Q @ np.diag([-9.0, 1.0, 2.5, 0.0]) @ Q.T) == pytest.approx(2.5)


def test_random_rotations_are_orthogonal_and_favour_no_direction() -> None:
    rng = np.random.default_rng(9)
    draws = np.array([random_rotation(3, rng) for _ in range(4000)])
    np.testing.assert_allclose(draws @ draws.transpose(0, 2, 1), np.broadcast_to(np.eye(3), draws.shape), atol=1e-12)
    # An entry of a uniform rotation in d dimensions has mean 0 and variance 1/d.
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose((draws**2).mean(axis=0), 1.0 / 3.0, atol=0.03)


@pytest.mark.parametrize("row", [0, 300, N - 1])
def test_the_block_below_a_row_can_be_solved_with_alone(factor: Cholesky, row: int) -> None:
    block = np.linalg.cholesky(A)[row:, row:]
    B = np.random.default_rng(1).standard_normal((N - row, 3))
    np.testing.assert_allclose(factor.tail_solve(row, B), np.linalg.solve(block, B), atol=1e-9)
    np.testing.assert_allclose(factor.tail_solve(row, B, transposed=True), np.linalg.solve(block.T, B), atol=1e-9)
    np.testing.assert_allclose(factor.tail_solve(row, B[:, 0]), np.linalg.solve(block, B[:, 0]), atol=1e-9)


@pytest.mark.parametrize("most", [7, 1000])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_pivoted_cholesky_always_takes_the_largest_relative_residual(tolerance: float, most: int) -> None:
    height = np.random.default_rng(2).uniform(0.5, 2.0, size=80)  # so that relative and absolute are not the same
    matrix = np.outer(height, height) * K[:80, :80]
    C, chosen = pivoted_cholesky(matrix, tolerance, most)
    # The Schur complements of the rows taken so far, from scratch each time.
    rows: list[int] = []
    while len(rows) < most:
        known = matrix[:, rows] @ np.linalg.solve(matrix[np.ix_(rows, rows)], matrix[rows]) if rows else 0.0
        residual = np.diagonal(matrix - known) / np.diagonal(matrix)
        if residual.max() <= tolerance:
            break
        rows.append(int(np.argmax(residual)))
    np.testing.assert_array_equal(chosen, rows)
    known = matrix[:, rows] @ np.linalg.solve(matrix[np.ix_(rows, rows)], matrix[rows])
    np.testing.assert_allclose(C.T @ C, known, atol=1e-9)
    np.testing.assert_array_equal(np.triu(C[:, chosen].T, 1), 0.0)


def test_pivoted_cholesky_skips_what_repeats_and_what_is_zero() -> None:
    matrix = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    C, chosen = pivoted_cholesky(matrix, 1e-12, 3)
    assert len(chosen) == 1
    np.testing.assert_allclose(C.T @ C, matrix, atol=1e-15)


def test_a_factor_that_was_saved_in_blocks_of_another_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cmerl.linalg.BLOCK", 256)
    saved = appended([317]).arrays()
    monkeypatch.undo()
    found = Cholesky.from_arrays(saved)
    assert found.n == 317
    np.testing.assert_allclose(found.solve(np.ones(317)), np.linalg.solve(A[:317, :317], np.ones(317)), atol=1e-8)
