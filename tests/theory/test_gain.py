"""The information gain γ_N: closed forms, enumeration, bounds."""

import math
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import InputError
from cmerl.kernels import RBF, Constant, Delta, Hamming, Linear, Matern, Polynomial, StateAction
from cmerl.theory import (
    InformationGain,
    information_gain,
)


def gain_of(kernel, Z, lam):
    """½ log det(I + K/λ)."""
    return 0.5 * np.linalg.slogdet(np.eye(len(Z)) + kernel(Z) / lam)[1]


def best_of_all(kernel, Z, N, lam):
    """γ_N by trying every multiset."""
    choices = combinations_with_replacement(range(len(Z)), N)
    return max(gain_of(kernel, Z[list(rows)], lam) for rows in choices)


def line(m):
    return np.linspace(0.0, 1.0, m)[:, None]


@pytest.mark.parametrize("lam", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(("m", "N"), [(1, 1), (1, 4), (3, 2), (3, 3), (3, 7), (4, 6)])
def test_delta_gain_is_the_best_of_all_multisets(m, N, lam):
    found = information_gain(Delta(), N, lam=lam, candidates=m)
    assert found.kind == "exact"
    assert found.lower == found.upper == pytest.approx(best_of_all(Delta(), line(m), N, lam), rel=1e-12)


def test_every_way_to_write_a_delta_kernel_has_its_closed_form():
    states, actions = line(3), line(2)
    expected = information_gain(Delta(), 10, lam=0.5, candidates=6)
    both = StateAction(Delta(), Delta())
    assert information_gain(both, 10, lam=0.5, states=states, actions=actions) == expected
    assert information_gain(both, 10, lam=0.5, candidates=6) == expected
    assert information_gain(Delta() * Delta(), 10, lam=0.5, candidates=np.vstack([line(6), line(6)])) == expected
    doubled = information_gain(2.0 * both, 10, lam=1.0, candidates=6)
    assert doubled.lower == pytest.approx(expected.lower, rel=1e-15)


@pytest.mark.parametrize("N", [1, 3, 4, 9, 5000])
def test_greedy_agrees_with_the_closed_form_on_independent_points(N):
    # A kernel matrix that happens to be diagonal, but whose type does not say so.
    far = 100.0 * np.arange(4.0)[:, None]
    found, truth = (information_gain(k, N, lam=0.3, candidates=c).lower for k, c in ((RBF(1.0), far), (Delta(), 4)))
    # Beyond 2000 picks come several at a time, and the counts are no longer quite even.
    assert found == pytest.approx(truth, rel=1e-12 if N <= 2000 else 1e-6)


@given(
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from([RBF(0.3), Matern(1.5, 0.5), Linear(), Polynomial(2), RBF(1.0) + 0.5]),
    N=st.integers(1, 5),
    lam=st.sampled_from([0.05, 1.0, 5.0]),
)
@settings(max_examples=40, deadline=None)
def test_the_interval_holds_the_best_of_all_multisets(seed, kernel, N, lam):
    Z = np.random.default_rng(seed).normal(size=(4, 2))
    found, truth = information_gain(kernel, N, lam=lam, candidates=Z), best_of_all(kernel, Z, N, lam)
    assert found.kind in ("exact", "interval")
    assert found.lower <= truth * (1 + 1e-9)
    assert truth <= found.upper * (1 + 1e-9)
    assert found.upper <= found.lower / (1 - 1 / math.e) * (1 + 1e-9)


def test_greedy_can_miss_the_best_and_the_interval_says_so():
    # The diagonal is worth most alone, but the two axes are worth more together.
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.9]])
    best, found = best_of_all(Linear(), Z, 2, 0.1), information_gain(Linear(), 2, lam=0.1, candidates=Z)
    assert best == pytest.approx(math.log(11))
    assert found.kind == "interval"
    assert found.lower < best - 0.01
    assert best <= found.upper


def test_many_candidates_and_huge_N_stay_within_a_percent():
    Z = np.array([(x, y) for x in np.linspace(0, 1, 8) for y in np.linspace(0, 1, 8)])
    gains = [information_gain(RBF(0.3), N, lam=1.0, candidates=Z) for N in (300, 3000, 10**6, 10**9)]
    assert all(0 < found.upper / found.lower - 1 < 0.02 for found in gains)
    assert all(a.upper < b.lower for a, b in pairwise(gains))
    # What greedy reports is the gain of actual points: no interval is below what data have.
    data = np.random.default_rng(0).integers(len(Z), size=300)
    assert ConditionalMeanEmbedding(RBF(0.3)).update(Z[data], Z[data]).information_gain <= gains[0].upper


@pytest.mark.parametrize("lam", [0.1, 1.0])
@pytest.mark.parametrize("N", [1, 2, 4, 5])
def test_linear_bound_is_above_every_multiset(N, lam):
    angles = np.linspace(0, np.pi, 6, endpoint=False)
    Z = np.column_stack([np.cos(angles), np.sin(angles)])
    bound = information_gain(Linear(1.0), N, lam=lam, dimension=2)
    assert bound.kind == "upper bound"
    assert bound.lower == 0.0
    assert bound.upper == pytest.approx(0.5 * min(2, N) * math.log(1 + N / (min(2, N) * lam)), rel=1e-12)
    assert best_of_all(Linear(), Z, N, lam) <= bound.upper * (1 + 1e-12)
    # With the points at hand the interval is at least as good: it knows the dimension itself.
    assert information_gain(Linear(), N, lam=lam, candidates=Z).upper <= bound.upper * (1 + 1e-9)


def test_a_kernel_of_one_feature_is_exact():
    found = information_gain(Constant(2.0), 7, lam=0.5, candidates=line(5))
    assert found.kind == "exact"
    assert found.lower == pytest.approx(0.5 * math.log1p(7 * 2.0 / 0.5), rel=1e-12)


def test_a_grid_of_a_continuous_domain_is_only_a_lower_bound():
    coarse, fine = (information_gain(RBF(0.2), 30, lam=1.0, candidates=line(m), exhaustive=False) for m in (3, 30))
    assert coarse.kind == fine.kind == "lower bound"
    assert coarse.lower < fine.lower
    assert coarse.upper == fine.upper == pytest.approx(15 * math.log(2))  # N independent points: the trivial bound
    assert information_gain(Linear(), 5, lam=1.0, candidates=line(4), exhaustive=False).upper == math.inf
    # Delta kernels too: on a continuum there is always another point.
    assert information_gain(Delta(), 5, lam=1.0, candidates=line(4), exhaustive=False).kind == "lower bound"


def test_structured_state_actions():
    words = ["aa", "ab", "bb"]
    found = information_gain(StateAction(Hamming(), Delta()), 12, lam=1.0, states=words, actions=["x", "y"])
    assert found.kind == "interval"
    # Two actions do not help each other: twice the best of six on one of them.
    single = information_gain(Hamming(), 6, lam=1.0, candidates=words)
    assert found.lower == pytest.approx(2 * single.lower, rel=1e-9)


@given(m=st.integers(1, 20), N=st.integers(0, 200), lam=st.floats(0.01, 100))
def test_gain_grows_with_N_and_points_and_falls_with_the_ridge(m, N, lam):
    here = information_gain(Delta(), N, lam=lam, candidates=m).lower
    assert information_gain(Delta(), N + 1, lam=lam, candidates=m).lower > here
    assert information_gain(Delta(), N, lam=lam, candidates=m + 1).lower >= here
    assert information_gain(Delta(), N, lam=2 * lam, candidates=m).lower <= here
    # Diminishing returns, which make γ_N/N fall.
    after = information_gain(Delta(), N + 2, lam=lam, candidates=m).lower
    middle = information_gain(Delta(), N + 1, lam=lam, candidates=m).lower
    assert after - middle <= middle - here + 1e-9


def test_nothing_seen_is_nothing_gained():
    assert information_gain(RBF(1.0), 0, lam=1.0, candidates=line(3)) == InformationGain(0.0, 0.0, "exact")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"candidates": 5},
        {"candidates": np.empty((0, 1))},
        {"states": line(2)},
        {"candidates": line(2), "states": line(2), "actions": line(2)},
        {"candidates": line(2), "dimension": 0},
    ],
)
def test_what_gamma_cannot_be_computed_from(options):
    with pytest.raises(InputError):
        information_gain(RBF(1.0), 10, lam=1.0, **options)


@pytest.mark.parametrize(("N", "lam"), [(-1, 1.0), (1.5, 1.0), (True, 1.0), (3, 0.0), (3, math.nan)])
def test_bad_sizes_and_ridges(N, lam):
    with pytest.raises(InputError):
        information_gain(Delta(), N, lam=lam, candidates=3)
