"""String kernels against their definitions: explicit features, counted one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import KernelError
from cmerl.kernels import GlobalAlignment, Mismatch, Spectrum, WeightedDegree

WORDS = ["abca", "bca", "abcabc", "aaaa", "c", "", "cbacba"]
strings = st.text("abc", max_size=8)


def count(text, piece):
    return sum(text[i : i + len(piece)] == piece for i in range(len(text) - len(piece) + 1))


def features(text, alphabet, k):
    return np.array([count(text, "".join(g)) for g in itertools.product(alphabet, repeat=k)], dtype=float)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_spectrum_counts_all_substrings(k):
    F = np.array([features(w, "abc", k) for w in WORDS])
    np.testing.assert_array_equal(Spectrum(k, normalized=False)(WORDS), F @ F.T)
    blended = sum(np.array([[features(v, "abc", i) @ features(w, "abc", i) for w in WORDS] for v in WORDS])
                  for i in range(1, k + 1))  # fmt: skip
    np.testing.assert_array_equal(Spectrum(k, blended=True, normalized=False)(WORDS), blended)


def test_normalized_spectrum_is_a_cosine_and_strings_without_features_are_alike():
    F = np.array([features(w, "abc", 2) for w in WORDS[:4]])
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    K = Spectrum(2)(WORDS)
    np.testing.assert_allclose(K[:4, :4], F @ F.T, rtol=1e-14)
    np.testing.assert_array_equal(K[4:6, 4:6], 1.0)
    np.testing.assert_array_equal(K[4:6, :4], 0.0)


@pytest.mark.parametrize(("k", "m"), [(1, 0), (2, 1), (3, 1), (3, 2), (2, 2)])
def test_mismatch_counts_what_is_near(k, m):
    def near(text, g):
        pieces = [text[i : i + k] for i in range(len(text) - k + 1)]
        return sum(sum(a != b for a, b in zip(piece, g, strict=True)) <= m for piece in pieces)

    F = np.array([[near(w, g) for g in itertools.product("abc", repeat=k)] for w in WORDS], dtype=float)
    np.testing.assert_array_equal(Mismatch("abc", k, m, normalized=False)(WORDS), F @ F.T)


@settings(max_examples=30, deadline=None)
@given(x=strings, y=strings)
def test_no_mismatch_is_the_spectrum(x, y):
    np.testing.assert_array_equal(Mismatch("abc", 2, 0)([x], [y]), Spectrum(2)([x], [y]))


@settings(max_examples=30, deadline=None)
@given(x=strings, y=strings, degree=st.integers(1, 3))
def test_weighted_degree_sums_agreement_at_the_same_place(x, y, degree):
    total = 0.0
    for k in range(1, degree + 1):
        weight = 2.0 * (degree - k + 1) / (degree * (degree + 1))
        ends = min(len(x), len(y)) - k + 1
        total += weight * sum(x[i : i + k] == y[i : i + k] for i in range(ends))
    K = WeightedDegree(degree, normalized=False)([x], [y])
    np.testing.assert_allclose(K, [[total]], atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Spectrum(0),
        lambda: Spectrum(1.5),
        lambda: Spectrum(2, alphabet="aa"),
        lambda: Mismatch("", 2),
        lambda: Mismatch("ab", 2, 3),
        lambda: WeightedDegree(True),
        lambda: GlobalAlignment(1.0),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(KernelError):
        make()
