"""Indefinite similarities: repaired on request only, with a record."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from cmerl.embedding import ConditionalMeanEmbedding
from cmerl.errors import KernelError
from cmerl.kernels import RBF, CallableKernel, Kernel, Repaired, from_spec, repair

WORDS = ["kitten", "sitting", "mitten", "sit", "bitten", "it"]


def edit_distance(x, y):
    D = np.add.outer(np.arange(len(x) + 1), np.arange(len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (x[i - 1] != y[j - 1]))
    return D[-1, -1]


@dataclass(frozen=True)
class EditSimilarity(Kernel):
    """1 − d²/20, which is not positive semi-definite."""

    bound = 1.0

    def __call__(self, X, Y=None):
        return np.array([[1.0 - edit_distance(x, y) ** 2 / 20.0 for y in (X if Y is None else Y)] for x in X])

    def diag(self, X):
        return np.ones(len(X))


def test_clip_is_the_nearest_positive_semidefinite_matrix():
    K = EditSimilarity()(WORDS)
    values, V = np.linalg.eigh(K)
    assert values[0] < -0.05
    clipped = (V * np.maximum(values, 0.0)) @ V.T
    repaired = repair(EditSimilarity(), WORDS)
    np.testing.assert_allclose(repaired(WORDS), clipped, atol=1e-10)
    np.testing.assert_allclose(repaired.diag(WORDS), np.diag(clipped), atol=1e-10)
    others = [*WORDS, "smitten", "sat"]
    assert np.linalg.eigvalsh(repaired(others))[0] > -1e-10  # away from the reference points too
    np.testing.assert_allclose(repaired(others[:3], others), repaired(others)[:3], atol=1e-10)


def test_shift_moves_the_spectrum():
    K = EditSimilarity()(WORDS)
    repaired = repair(EditSimilarity(), WORDS, method="shift")
    np.testing.assert_allclose(repaired(WORDS) - K, -np.linalg.eigvalsh(K)[0] * np.eye(6), atol=1e-8)
    assert np.linalg.eigvalsh(repaired(WORDS))[0] >= 0.0
    assert repaired(["sit"], ["sit", "it"])[0, 1] == EditSimilarity()(["sit"], ["it"])[0, 0]


@pytest.mark.parametrize("method", ["clip", "shift"])
def test_the_record_says_what_was_changed(method):
    K = EditSimilarity()(WORDS)
    values = np.linalg.eigvalsh(K)
    repaired = repair(EditSimilarity(), WORDS, method=method)
    assert repaired.record.method == method
    assert repaired.record.references == 6
    np.testing.assert_allclose(repaired.record.smallest, values[0])
    np.testing.assert_allclose(repaired.record.negative, -values[values < 0].sum() / abs(values).sum())
    np.testing.assert_allclose(
        repaired.record.change, np.linalg.norm(repaired(WORDS) - K) / np.linalg.norm(K), rtol=1e-6
    )
    assert "smallest=-" in repr(repaired)
    again = from_spec(json.loads(json.dumps(repaired.spec())))
    assert again == repaired
    np.testing.assert_array_equal(again(WORDS), repaired(WORDS))


def test_nothing_is_repaired_unasked():
    with pytest.raises(KernelError):
        ConditionalMeanEmbedding(EditSimilarity(), lam=0.01).update(WORDS, WORDS)
    embedding = ConditionalMeanEmbedding(repair(EditSimilarity(), WORDS), lam=0.01).update(WORDS, WORDS)
    assert np.isfinite(embedding.std(WORDS)).all()


def test_a_kernel_that_needs_no_repair_is_left_as_it_is():
    X = np.random.default_rng(0).normal(size=(8, 2))
    repaired = repair(RBF(0.5), X)
    np.testing.assert_allclose(repaired(X), RBF(0.5)(X), atol=1e-9)
    assert repaired.record.smallest > 0.0
    assert repaired.record.negative == 0.0


def test_bad_requests_are_refused():
    with pytest.raises(KernelError, match="method must be one of"):
        repair(RBF(), np.ones((2, 1)), method="flip")
    with pytest.raises(KernelError, match="symmetric"):
        repair(CallableKernel(lambda X, Y: np.arange(len(X) * len(Y)).reshape(len(X), -1)), ["a", "b"])
    with pytest.raises(KernelError, match="none"):
        Repaired(RBF(), ())
