"""check_kernel: each fault is found and named, and true kernels pass."""

import numpy as np
import pytest

import cmerl
from cmerl.errors import InputError
from cmerl.kernels import RBF, CallableKernel, Delta, GlobalAlignment, Linear, Spectrum

WORDS = ["abba", "ab", "bab", "aabb", "b"]


def lengths(X, Y):
    return np.array([[1.0 + min(len(x), len(y)) for y in Y] for x in X])


@pytest.mark.parametrize("kernel", [Spectrum(2), GlobalAlignment(0.5), Delta(), lengths])
def test_kernels_pass(kernel):
    report = cmerl.check_kernel(kernel, WORDS)
    assert report.ok, report
    assert report.points == 5
    assert report.smallest >= -1e-8
    assert "eigenvalues on 5 points" in str(report)


def test_vector_kernels_pass_too():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for kernel in (RBF(0.4), Linear(), RBF(1.0) * Linear() + 0.5):
        assert cmerl.check_kernel(kernel, X).ok


class Noisy:
    def __init__(self):
        self.calls = 0

    def __call__(self, X, Y):
        self.calls += 1
        return lengths(X, Y) + 1e-6 * self.calls


def failing(X, Y):
    raise RuntimeError("no")


FAULTS = [
    (lambda X, Y: np.array([[len(x) - 0.5 * len(y) + 9.0 for y in Y] for x in X]), "not symmetric", "k(x_"),
    (lambda X, Y: -lengths(X, Y), "indefinite", "smallest eigenvalue"),
    (lambda X, Y: lengths(X, Y) / lengths(X, Y).max(), "depends on the batch", "depends on the other points"),
    (lambda X, Y: np.ones((len(X), 1)), "matrix", "returned shape (5, 1)"),
    (lambda X, Y: np.array([[np.nan if x == y == "bab" else 1.0 for y in Y] for x in X]), "matrix", "points 2 and 2"),
    (Noisy(), "not deterministic", "the same call"),
    (failing, "exception", "RuntimeError: no"),
    (CallableKernel(lengths, bound=1.0), "bound", "exceeds the declared bound"),
]


@pytest.mark.parametrize(("kernel", "name", "words"), FAULTS, ids=lambda x: x if isinstance(x, str) else "")
def test_each_fault_is_named(kernel, name, words):
    report = cmerl.check_kernel(kernel, WORDS)
    assert not report.ok
    assert name in report.names
    assert any(words in finding.what for finding in report), str(report)
    assert words in str(report)


def test_a_wrong_diagonal_is_found():
    class Wrong(CallableKernel):
        def diag(self, X):
            return super().diag(X) + 1.0

    report = cmerl.check_kernel(Wrong(lengths), WORDS)
    assert report.names == ["diagonal"]


def test_points_without_features_are_a_note():
    report = cmerl.check_kernel(Spectrum(3, normalized=False), WORDS)
    assert report.names == ["zero diagonal"]
    assert report.ok


def test_a_sample_of_one_says_nothing():
    with pytest.raises(InputError, match="at least two points"):
        cmerl.check_kernel(RBF(), np.ones((1, 2)))
