"""The global alignment kernel: the sum over all alignments, written out."""

import numpy as np
import pytest

from cmerl.kernels import RBF, GlobalAlignment


def all_alignments(n, m):
    """Every path from (0, 0) to (n − 1, m − 1) by steps (1, 0), (0, 1), (1, 1)."""
    if n == 1 and m == 1:
        return [[(0, 0)]]
    before = [(n - i, m - j) for i, j in ((1, 0), (0, 1), (1, 1)) if n - i >= 1 and m - j >= 1]
    return [[*path, (n - 1, m - 1)] for n0, m0 in before for path in all_alignments(n0, m0)]


def alignment_sum(x, y, similarity):
    def kappa(a, b):
        return similarity(a, b) / (2.0 - similarity(a, b))

    return sum(np.prod([kappa(x[i], y[j]) for i, j in path]) for path in all_alignments(len(x), len(y)))


@pytest.mark.parametrize("likeness", [0.0, 0.3, 0.9])
def test_alignment_kernel_sums_over_all_alignments(likeness):
    words = ["a", "ab", "abc", "bca", "aacb"]
    raw = np.array([[alignment_sum(v, w, lambda a, b: 1.0 if a == b else likeness) for w in words] for v in words])
    expected = raw / np.sqrt(np.outer(np.diag(raw), np.diag(raw)))
    np.testing.assert_allclose(GlobalAlignment(likeness)(words), expected, rtol=1e-12, atol=1e-15)
    # tiles smaller than the data, and one list against another
    np.testing.assert_allclose(GlobalAlignment(likeness, block=2)(words), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(GlobalAlignment(likeness)(words[:2], words), expected[:2], rtol=1e-12, atol=1e-15)


def test_alignment_kernel_on_sequences_of_vectors():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=(n, 2)) for n in (1, 2, 3, 4)]
    raw = np.array([[alignment_sum(v, w, lambda a, b: np.exp(-0.5 * np.sum((a - b) ** 2) / 0.49)) for w in series]
                    for v in series])  # fmt: skip
    expected = raw / np.sqrt(np.outer(np.diag(raw), np.diag(raw)))
    np.testing.assert_allclose(GlobalAlignment(local=RBF(0.7))(series), expected, rtol=1e-10)


def test_long_sequences_do_not_overflow():
    x, y = "ab" * 400, "ba" * 350  # the number of alignments has more than 500 digits
    K = GlobalAlignment(0.5)([x, y, x])
    assert np.isfinite(K).all()
    assert 0.0 < K[0, 1] < 1.0
    np.testing.assert_allclose(K[0, 2], 1.0, rtol=1e-9)


def test_empty_sequences_are_like_each_other_alone():
    K = GlobalAlignment(0.5)(["", "ab", ""])
    np.testing.assert_array_equal(K[0], [1.0, 0.0, 1.0])
