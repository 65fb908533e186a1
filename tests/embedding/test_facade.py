"""The public embedding against closed forms, dense linear algebra and scikit-learn."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from cmerl import ConditionalMeanEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Constant, Delta, Hamming, Linear, Matern, StateAction

examples = settings(max_examples=15, deadline=None)


def rbf(X: np.ndarray, Y: np.ndarray, lengthscale: float) -> np.ndarray:
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2) / lengthscale**2)


def equal(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.all(X[:, None] == Y[None], axis=2).astype(float)


def dense(k, X: np.ndarray, Xq: np.ndarray, lam: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Weights (q, n), σ (q,) and G from the n×n matrix, the formulas of the paper as they stand."""
    K, Kqz = k(X, X), k(Xq, X)
    alpha = np.linalg.solve(K + lam * np.eye(len(X)), Kqz.T).T
    var = np.diag(k(Xq, Xq)) - np.einsum("qn,qn->q", Kqz, alpha)
    return alpha, np.sqrt(np.maximum(var, 0.0)), 0.5 * np.linalg.slogdet(np.eye(len(X)) + K / lam)[1]


def sequential_sum_r(k, X: np.ndarray, lam: float) -> float:
    """Σ w/(1+w) by one dense solve for every arrival."""
    total = 0.0
    for i in range(len(X)):
        past, new = X[:i], X[i : i + 1]
        column = k(past, new)
        w = (k(new, new) - column.T @ np.linalg.solve(k(past, past) + lam * np.eye(i), column)).item() / lam
        total += w / (1.0 + w)
    return total


# The library's kernel next to the same function written out; rows are (state, action).
KERNELS = {
    "general": (RBF(0.7), lambda X, Y: rbf(X, Y, 0.7)),
    "indicator": (
        StateAction(RBF(0.4), Delta()),
        lambda X, Y: rbf(X[:, :1], Y[:, :1], 0.4) * equal(X[:, 1:], Y[:, 1:]),
    ),
    "product": (
        StateAction(RBF(0.4), 0.5 + 0.5 * Delta()),
        lambda X, Y: rbf(X[:, :1], Y[:, :1], 0.4) * (0.5 + 0.5 * equal(X[:, 1:], Y[:, 1:])),
    ),
    "delta": (Delta(), equal),
}


@pytest.fixture(scope="module", params=KERNELS.values(), ids=KERNELS)
def kernels(request: pytest.FixtureRequest):
    return request.param


def draw(n: int, seed: int = 0, repeated: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """State-actions of which a share lies on a grid of 5 × 3, so that they repeat, and next states."""
    rng = np.random.default_rng(seed)
    states = np.where(rng.uniform(size=n) < repeated, rng.integers(0, 5, n) / 4, rng.uniform(size=n))
    Y = np.where(rng.uniform(size=n) < 0.5, rng.integers(0, 4, n), rng.normal(size=n))
    return np.column_stack([states, rng.integers(0, 3, n)]), Y[:, None]


QUERIES = np.array([[s, a] for s in (0.0, 0.25, 0.6, 1.0, 1.7) for a in (0.0, 1.0, 2.0, 7.0)])


# --- the formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize("repeated", [0.0, 0.5, 1.0])
def test_weights_std_and_gain_are_those_of_the_dense_matrix(kernels, repeated: float) -> None:
    ours, k = kernels
    X, Y = draw(400, repeated=repeated)
    cme = ConditionalMeanEmbedding(ours, lam=0.3)
    for start, stop in itertools.pairwise([0, 1, 20, 21, 290, 400]):
        cme.update(X[start:stop], Y[start:stop])
        alpha, sigma, gain = dense(k, X[:stop], QUERIES, 0.3)
        np.testing.assert_allclose(cme.weights(QUERIES), alpha, atol=1e-9)
        np.testing.assert_allclose(cme.std(QUERIES), sigma, atol=1e-9)
        np.testing.assert_allclose(cme.weight_norm1(QUERIES), np.abs(alpha).sum(axis=1), rtol=1e-9, atol=1e-12)
        assert cme.information_gain == pytest.approx(gain, rel=1e-9)
        assert cme.n == stop
        np.testing.assert_array_equal(cme.support, Y[:stop])


def test_thousands_of_rows_on_a_finite_domain_equal_the_dense_matrix(kernels) -> None:
    ours, k = kernels
    X, Y = draw(1600, seed=1, repeated=1.0)
    cme = ConditionalMeanEmbedding(ours, lam=0.5).update(X[:1200], Y[:1200])
    for i in range(1200, 1300):
        cme.update(X[i], Y[i])
    cme.update(X[1300:], Y[1300:])
    alpha, sigma, gain = dense(k, X, QUERIES, 0.5)
    np.testing.assert_allclose(cme.weights(QUERIES), alpha, atol=1e-10)
    np.testing.assert_allclose(cme.std(QUERIES), sigma, atol=1e-9)
    np.testing.assert_allclose(cme.weight_norm1(QUERIES), np.abs(alpha).sum(axis=1), rtol=1e-9)
    assert cme.information_gain == pytest.approx(gain, rel=1e-9)
    # On a finite domain Σ r_i follows from the posterior covariance, one rank-one update an arrival.
    domain, where = np.unique(X, axis=0, return_inverse=True)
    C, sum_r = k(domain, domain), 0.0
    for z in where.ravel():
        sum_r += C[z, z] / (0.5 + C[z, z])
        C -= np.outer(C[:, z], C[:, z]) / (0.5 + C[z, z])
    assert cme.sum_r == pytest.approx(sum_r, rel=1e-9)
    assert cme.diagnostics()["distinct state-actions"] == len(domain) == 15


def test_without_data_the_embedding_is_its_prior(kernels) -> None:
    ours, k = kernels
    cme = ConditionalMeanEmbedding(ours, lam=0.1)
    np.testing.assert_allclose(cme.std(QUERIES) ** 2, np.diag(k(QUERIES, QUERIES)), rtol=1e-12)
    assert cme.weights(QUERIES).shape == (len(QUERIES), 0)
    np.testing.assert_array_equal(cme.expectation(np.empty(0), QUERIES), np.zeros(len(QUERIES)))
    np.testing.assert_array_equal(cme.weight_norm1(QUERIES), np.zeros(len(QUERIES)))
    np.testing.assert_array_equal(cme.visit_counts(QUERIES), np.zeros(len(QUERIES)))
    assert (cme.n, cme.information_gain, cme.sum_r, cme.jitter) == (0, 0.0, 0.0, 0.0)


def test_without_data_sigma_is_the_norm_of_the_feature() -> None:
    cme = ConditionalMeanEmbedding(4.0 * Linear(), lam=0.1)
    np.testing.assert_allclose(cme.std(QUERIES), 2.0 * np.linalg.norm(QUERIES, axis=1), rtol=1e-12)


def test_without_data_every_function_has_mean_zero() -> None:
    cme = ConditionalMeanEmbedding(RBF(), lam=0.1)
    np.testing.assert_array_equal(cme.expectation(lambda y: y[:, 0], QUERIES), np.zeros(len(QUERIES)))


def test_an_empty_update_changes_nothing() -> None:
    X, Y = draw(10)
    cme = ConditionalMeanEmbedding(RBF(), lam=0.1).update(X[:0], Y[:0]).update(X, Y).update(X[:0], Y[:0])
    assert cme.n == 10
    np.testing.assert_allclose(cme.std(QUERIES), dense(lambda A, B: rbf(A, B, 1.0), X, QUERIES, 0.1)[1], atol=1e-9)


def test_no_queries_give_no_answers(kernels) -> None:
    cme = ConditionalMeanEmbedding(kernels[0]).update(*draw(10))
    assert cme.weights(QUERIES[:0]).shape == (0, 10)
    assert cme.std(QUERIES[:0]).shape == cme.expectation(np.ones(10), QUERIES[:0]).shape == (0,)


# --- oracle: delta kernel ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Delta(), StateAction(Delta(), Delta())], ids=["joint", "split"])
@pytest.mark.parametrize("lam", [0.1, 1.0, 7.0])
def test_delta_kernel_has_closed_forms(kernel, lam: float) -> None:
    X, Y = draw(700, seed=2, repeated=1.0)
    cme = ConditionalMeanEmbedding(kernel, lam=lam)
    for rows in np.array_split(np.arange(700), 9):
        cme.update(X[rows], Y[rows])
    visits = Counter(map(tuple, X))
    N = np.array([visits[tuple(z)] for z in QUERIES])
    np.testing.assert_allclose(cme.weights(QUERIES), equal(QUERIES, X) / (N + lam)[:, None], atol=1e-12)
    np.testing.assert_allclose(cme.std(QUERIES) ** 2, lam / (N + lam), rtol=1e-10)
    np.testing.assert_array_equal(cme.visit_counts(QUERIES), N)
    counts = np.array(list(visits.values()))
    assert cme.information_gain == pytest.approx(0.5 * np.log(1.0 + counts / lam).sum(), rel=1e-10)
    # The j-th visit of a point has w = 1/(j − 1 + λ), so r = 1/(j + λ).
    assert cme.sum_r == pytest.approx(sum((1.0 / (np.arange(1, c + 1) + lam)).sum() for c in counts), rel=1e-10)


# --- oracle: information gain, Σ r, and the size of the weights --------------------------------------------


@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_sum_r_is_that_of_one_dense_solve_an_arrival(kernels, lam: float) -> None:
    ours, k = kernels
    X, Y = draw(120, seed=3)
    cme = ConditionalMeanEmbedding(ours, lam=lam)
    for start, stop in itertools.pairwise([0, 5, 6, 7, 100, 120]):
        cme.update(X[start:stop], Y[start:stop])
    assert cme.sum_r == pytest.approx(sequential_sum_r(k, X, lam), rel=1e-9)
    assert cme.sum_r <= 2.0 * cme.information_gain


@examples
@given(seed=st.integers(0, 10_000), lam=st.sampled_from([0.01, 0.3, 1.0, 10.0]), repeated=st.sampled_from([0, 0.8]))
def test_inequalities_hold_for_any_data(kernels, seed: int, lam: float, repeated: float) -> None:
    X, Y = draw(60, seed, repeated)
    cme = ConditionalMeanEmbedding(kernels[0], lam=lam)
    before = cme.std(QUERIES)
    for rows in np.array_split(np.arange(60), 6):
        cme.update(X[rows], Y[rows])
        after, alpha = cme.std(QUERIES), cme.weights(QUERIES)
        assert np.all(after <= before + 1e-12)
        assert np.all(np.linalg.norm(alpha, axis=1) <= after / np.sqrt(lam) + 1e-9)
        assert 0.0 < cme.sum_r <= 2.0 * cme.information_gain + 1e-12
        before = after


# --- oracle: linear kernel ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 400])
def test_linear_kernel_primal_equals_dual(n: int) -> None:
    rng = np.random.default_rng(4)
    Phi, y, Phi_q, lam = rng.normal(size=(n, 4)), rng.normal(size=n), rng.normal(size=(20, 4)), 0.7
    cme = ConditionalMeanEmbedding(Linear(), lam=lam).update(Phi[:1], y[:1, None]).update(Phi[1:], y[1:, None])
    M = Phi.T @ Phi + lam * np.eye(4)
    np.testing.assert_allclose(cme.expectation(y, Phi_q), Phi_q @ np.linalg.solve(M, Phi.T @ y), atol=1e-9)
    var = lam * np.einsum("qd,qd->q", Phi_q, np.linalg.solve(M, Phi_q.T).T)
    np.testing.assert_allclose(cme.std(Phi_q) ** 2, var, atol=1e-9)
    assert cme.information_gain == pytest.approx(0.5 * np.linalg.slogdet(M / lam)[1], rel=1e-9)


# --- a negative weight ---------------------------------------------------------------------------------


def test_a_stationary_kernel_can_give_a_negative_weight() -> None:
    cme = ConditionalMeanEmbedding(RBF(1.0), lam=1.0).update([[0.0], [1.0]], [[0.0], [1.0]])
    alpha = cme.weights([[2.0]])[0]
    np.testing.assert_allclose(alpha, [-0.0268, 0.3114], atol=5e-5)
    e, far = np.exp(-0.5), np.exp(-2.0)  # k(0, 1) = k(1, 2) and k(0, 2)
    np.testing.assert_allclose(alpha, np.array([2 * far - e * e, 2 * e - e * far]) / (4 - e * e), rtol=1e-12)
    assert cme.weight_norm1([[2.0]])[0] == pytest.approx(alpha[1] - alpha[0])


# --- oracle: order and batching ---------------------------------------------------------------------------

X60, Y60 = draw(60, seed=5)


@examples
@given(cuts=st.sets(st.integers(1, 59)), seed=st.none() | st.integers(0, 1000))
def test_any_order_and_batching_gives_the_same_embedding(kernels, cuts: set[int], seed: int | None) -> None:
    whole = ConditionalMeanEmbedding(kernels[0], lam=0.2).update(X60, Y60)
    order = np.arange(60) if seed is None else np.random.default_rng(seed).permutation(60)
    parts = ConditionalMeanEmbedding(kernels[0], lam=0.2)
    for rows in np.split(order, sorted(cuts)):
        parts.update(X60[rows], Y60[rows])
    np.testing.assert_allclose(parts.weights(QUERIES), whole.weights(QUERIES)[:, order], atol=1e-9)
    np.testing.assert_allclose(parts.std(QUERIES), whole.std(QUERIES), atol=1e-9)
    for f in (np.cos, np.abs):
        ours, theirs = (c.expectation(lambda y, f=f: f(y[:, 0]), QUERIES) for c in (parts, whole))
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert parts.information_gain == pytest.approx(whole.information_gain, abs=1e-9)
    if seed is None:
        assert parts.sum_r == pytest.approx(whole.sum_r, abs=1e-9)


def test_sum_r_depends_on_the_order() -> None:
    k = KERNELS["general"][1]
    forward, backward = (
        ConditionalMeanEmbedding(RBF(0.7), lam=0.2).update(X60[order], Y60[order])
        for order in (np.arange(60), np.arange(60)[::-1])
    )
    assert backward.sum_r == pytest.approx(sequential_sum_r(k, X60[::-1], 0.2), rel=1e-9)
    assert abs(forward.sum_r - backward.sum_r) > 1e-3


def test_single_rows_across_the_blocks_of_the_factor_equal_one_batch(kernels) -> None:
    X, Y = draw(560, seed=6, repeated=0.3)
    whole = ConditionalMeanEmbedding(kernels[0], lam=0.2).update(X, Y)
    parts = ConditionalMeanEmbedding(kernels[0], lam=0.2)
    for x, y in zip(X, Y, strict=True):
        parts.update(x, y)
    np.testing.assert_allclose(parts.weights(QUERIES), whole.weights(QUERIES), atol=1e-9)
    np.testing.assert_allclose(parts.std(QUERIES), whole.std(QUERIES), atol=1e-9)
    assert parts.information_gain == pytest.approx(whole.information_gain, rel=1e-9)
    assert parts.sum_r == pytest.approx(whole.sum_r, rel=1e-9)


# --- scikit-learn --------------------------------------------------------------------------------------

SKLEARN = {
    "RBF": (RBF(0.4), sk.RBF(0.4)),
    "RBF per column": (RBF((0.4, 2.0)), sk.RBF([0.4, 2.0])),
    "Matern": (Matern(1.5, 0.8), sk.Matern(0.8, nu=1.5)),
    "composite": (2.0 * RBF(0.5) + Linear() + 0.3, 2.0 * sk.RBF(0.5) + sk.DotProduct(np.sqrt(0.3))),
}


@pytest.mark.parametrize(("ours", "theirs"), SKLEARN.values(), ids=SKLEARN)
@pytest.mark.parametrize("wrapped", [False, True], ids=["own kernel", "wrapped kernel"])
def test_posterior_is_that_of_gaussian_process_regression(ours, theirs, wrapped: bool) -> None:
    X, Y = draw(200, seed=7)
    y, lam = np.sin(3.0 * X[:, 0]) + X[:, 1], 0.15
    gp = GaussianProcessRegressor(theirs, alpha=lam, optimizer=None).fit(X, y)
    mean, std = gp.predict(QUERIES, return_std=True)
    cme = ConditionalMeanEmbedding(theirs if wrapped else ours, lam=lam)
    cme.update(X[:90], Y[:90]).update(X[90:], Y[90:])
    np.testing.assert_allclose(cme.expectation(y, QUERIES), mean, atol=1e-8)
    np.testing.assert_allclose(cme.std(QUERIES), std, atol=1e-8)


# --- expectations, support, counts -------------------------------------------------------------------------


def test_expectation_is_the_weighted_sum_of_f_on_the_support(kernels) -> None:
    X, Y = draw(150, seed=8, repeated=1.0)
    cme = ConditionalMeanEmbedding(kernels[0], lam=0.4).update(X[:40], Y[:40]).update(X[40:], Y[40:])
    alpha = dense(kernels[1], X, QUERIES, 0.4)[0]
    expected = alpha @ np.cos(Y[:, 0])
    np.testing.assert_allclose(cme.expectation(lambda y: np.cos(y[:, 0]), QUERIES), expected, atol=1e-9)
    np.testing.assert_allclose(cme.expectation(np.cos(Y[:, 0]), QUERIES), expected, atol=1e-9)
    np.testing.assert_allclose(cme.expectation(np.cos(Y[:, 0]).tolist(), QUERIES), expected, atol=1e-9)
    both = cme.expectation(lambda y: np.column_stack([np.cos(y[:, 0]), y[:, 0] ** 2]), QUERIES)
    np.testing.assert_allclose(both, np.column_stack([expected, alpha @ Y[:, 0] ** 2]), atol=1e-9)


@pytest.mark.parametrize("f", [np.ones(3), 1.0, lambda y: 0.0, lambda y: y[:3, 0]])
def test_f_must_have_one_value_for_each_support_point(f) -> None:
    cme = ConditionalMeanEmbedding(RBF()).update(*draw(10))
    with pytest.raises(InputError, match="one value for each of the 10 support points, but gave shape"):
        cme.expectation(f, QUERIES)


def test_support_keeps_order_and_repeats() -> None:
    cme = ConditionalMeanEmbedding(RBF(), lam=1.0)
    cme.update([[0.0], [1.0], [0.0]], [[5.0, 1.0], [4.0, 1.0], [5.0, 1.0]]).update([[0.0]], [[4.0, 1.0]])
    np.testing.assert_array_equal(cme.support, [[5.0, 1.0], [4.0, 1.0], [5.0, 1.0], [4.0, 1.0]])


def test_the_data_belong_to_the_embedding() -> None:
    X, Y = draw(20)
    mine, yours = X.copy(), Y.copy()
    cme = ConditionalMeanEmbedding(RBF(), lam=0.1).update(mine, yours)
    sigma = cme.std(QUERIES)
    mine[:], yours[:] = 0.0, 0.0
    np.testing.assert_array_equal(cme.support, Y)
    np.testing.assert_array_equal(cme.std(QUERIES), sigma)


def test_visits_are_counted_whatever_the_sign_of_zero() -> None:
    cme = ConditionalMeanEmbedding(StateAction(RBF(), Delta()), lam=1.0)
    cme.update([[0.0, 0.0], [-0.0, 0.0], [0.5, -0.0]], np.zeros((3, 1)))
    queries = [[-0.0, 0.0], [0.0, -0.0], [0.5, 0.0], [0.5, 1.0]]
    np.testing.assert_array_equal(cme.visit_counts(queries), [2, 2, 1, 0])
    np.testing.assert_allclose(cme.std(queries)[0], cme.std(queries)[1], rtol=1e-14)


def test_an_array_of_one_dimension_is_one_row() -> None:
    X, Y = draw(5)
    cme = ConditionalMeanEmbedding(RBF(), lam=1.0).update(X, Y)
    assert cme.update(X[0], Y[0]).n == 6
    np.testing.assert_array_equal(cme.weights(X[0]), cme.weights(X[:1]))


# --- objects -------------------------------------------------------------------------------------------

WORDS = ["aba", "abb", "bbb", "aba", "aab", "aba", "bbb"]
AFTER = ["x", "y", "x", "zz", "x", "x", "y"]


def test_delta_kernel_on_words() -> None:
    cme = ConditionalMeanEmbedding(Delta(), lam=0.5).update(WORDS[:3], AFTER[:3]).update(WORDS[3:], AFTER[3:])
    queries = ["aba", "bbb", "new"]
    N = np.array([3, 2, 0])
    expected = np.array([[(w == q) for w in WORDS] for q in queries]) / (N + 0.5)[:, None]
    np.testing.assert_allclose(cme.weights(queries), expected, atol=1e-12)
    np.testing.assert_allclose(cme.std(queries) ** 2, 0.5 / (N + 0.5), rtol=1e-12)
    np.testing.assert_array_equal(cme.visit_counts(queries), N)
    assert cme.support == AFTER
    probability_of_x = cme.expectation(lambda ys: [float(y == "x") for y in ys], queries)
    np.testing.assert_allclose(probability_of_x, [2 / 3.5, 1 / 2.5, 0.0], atol=1e-12)


def test_hamming_kernel_on_words_equals_the_dense_matrix() -> None:
    rng = np.random.default_rng(9)
    words = ["".join(w) for w in rng.choice(list("ab"), size=(90, 4))]
    queries = ["aaaa", "abab", "zzzz"]

    def k(A: list[str], B: list[str]) -> np.ndarray:
        return np.array([[np.mean([x == y for x, y in zip(a, b, strict=True)]) for b in B] for a in A])

    cme = ConditionalMeanEmbedding(Hamming(), lam=0.3)
    for start in range(0, 90, 9):
        cme.update(words[start : start + 9], words[start : start + 9])
    alpha = np.linalg.solve(k(words, words) + 0.3 * np.eye(90), k(words, queries)).T
    np.testing.assert_allclose(cme.weights(queries), alpha, atol=1e-10)
    var = 1.0 - np.einsum("qn,nq->q", alpha, k(words, queries))
    np.testing.assert_allclose(cme.std(queries) ** 2, var, atol=1e-10)


def test_pairs_of_words_split_by_the_action() -> None:
    kernel = StateAction(Hamming(), Delta())
    pairs = list(zip(WORDS, ["l", "r", "l", "l", "r", "l", "l"], strict=True))
    cme = ConditionalMeanEmbedding(kernel, lam=0.5).update(pairs[:2], AFTER[:2]).update(pairs[2:], AFTER[2:])
    K = np.array(
        [
            [(a == b) * np.mean([x == y for x, y in zip(s, t, strict=True)]) for t, b in [*pairs, ("abb", "l")]]
            for s, a in pairs
        ]
    )
    alpha = np.linalg.solve(K[:, :7] + 0.5 * np.eye(7), K[:, 7])
    np.testing.assert_allclose(cme.weights([("abb", "l")])[0], alpha, atol=1e-12)
    np.testing.assert_array_equal(cme.visit_counts([("aba", "l"), ("aba", "r")]), [3, 0])


# --- options and reports ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf])
def test_the_ridge_must_be_positive(lam: float) -> None:
    with pytest.raises(InputError, match="lam must be a positive number, not"):
        ConditionalMeanEmbedding(RBF(), lam=lam)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(InputError, match="backend 'magic' is unknown"):
        ConditionalMeanEmbedding(RBF(), backend="magic")


def test_diagnostics_count_what_was_seen_and_can_be_saved() -> None:
    X, Y = draw(300, repeated=1.0)
    cme = ConditionalMeanEmbedding(StateAction(RBF(0.4), Delta()), lam=0.1).update(X, Y)
    report = json.loads(json.dumps(cme.diagnostics(), allow_nan=False))
    assert report["transitions"] == cme.n == 300
    assert report["distinct state-actions"] == len(np.unique(X, axis=0))
    assert report["distinct next states"] == len(np.unique(Y))
    assert report["regressions"] == 3
    assert report["information gain"] == cme.information_gain
    assert "RBF" in repr(cme)
    assert "n=300" in repr(cme)


def test_the_jitter_is_reported() -> None:
    X = np.full((5, 1), 3.0)
    exact = ConditionalMeanEmbedding(Constant(1.0), lam=1e-3).update(X, X)
    singular = ConditionalMeanEmbedding(Constant(1e9), lam=1e-9).update(X, X)
    assert exact.jitter == 0.0
    assert 0.0 < singular.jitter <= 10.0 == 1e-8 * 1e9
