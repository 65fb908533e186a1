"""check_embedding finds nothing wrong with ours, and finds what is wrong with others."""

import numpy as np
import pytest

import cmerl
from cmerl import ConditionalMeanEmbedding
from cmerl.checking.embeddings import check_embedding
from cmerl.kernels import RBF, Delta, Linear, Matern

RNG = np.random.default_rng(0)
X = np.vstack([RNG.uniform(size=(30, 2)), np.repeat(RNG.uniform(size=(2, 2)), 3, axis=0)])
Y = X**2


@pytest.mark.parametrize("kernel", [RBF(0.4), Matern(1.5, 0.5), Delta(), Linear()], ids=repr)
def test_exact_keeps_every_promise(kernel) -> None:
    assert check_embedding(lambda: ConditionalMeanEmbedding(kernel, lam=0.3), X, Y) == []


@pytest.mark.parametrize("backend", ["compressed", "nystrom"])
def test_sketches_do_within_their_tolerance(backend: str) -> None:
    make = lambda: ConditionalMeanEmbedding(RBF(0.4), lam=0.3, backend=backend, value_kernel=RBF(0.4))  # noqa: E731
    assert check_embedding(make, X, Y, tolerance=0.05) == []


class Wrong(ConditionalMeanEmbedding):
    pass


BROKEN = {
    "σ² differs": {"std": lambda self, Xq: 1.1 * ConditionalMeanEmbedding.std(self, Xq)},
    "means differ": {"weights": lambda self, Xq: 0.9 * ConditionalMeanEmbedding.weights(self, Xq)},
    "the information gain": {"information_gain": property(lambda self: 0.0)},
    "without data n": {"n": property(lambda self: 1)},
    "was learned": {
        "update": lambda self, X, Y: self if np.isnan(X).any() else ConditionalMeanEmbedding.update(self, X, Y)
    },
    "it raised RuntimeError": {"std": lambda self, Xq: (_ for _ in ()).throw(RuntimeError("no"))},
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_found(what: str) -> None:
    cls = type("Broken", (Wrong,), BROKEN[what])
    findings = check_embedding(lambda: cls(RBF(0.4), lam=0.3), X, Y)
    assert any(what in finding.what for finding in findings)


def test_it_has_a_name_of_its_own() -> None:
    assert cmerl.check_embedding is check_embedding
