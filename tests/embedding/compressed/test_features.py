"""Random Fourier features: unbiased, of known variance, the same after saving."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.compressed.features import FourierFeatures
from cmerl.errors import KernelError
from cmerl.kernels import RBF, Kernel, Linear, Matern

X = np.random.default_rng(0).random((6, 2))


def features(kernel: Kernel, count: int = 400, seed: int = 0, **options: bool) -> FourierFeatures:
    return FourierFeatures(kernel, count, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("kernel", [RBF(0.4), Matern(1.5, 0.6), Matern(2.5, (0.3, 0.9))], ids=repr)
def test_inner_products_are_the_kernel_on_average(kernel: Kernel, orthogonal: bool) -> None:
    draws = []
    for seed in range(60):
        F, residual = features(kernel, 200, seed, orthogonal=orthogonal).coordinates(X)
        draws.append(F.T @ F)
        np.testing.assert_array_equal(residual, 0.0)
        np.testing.assert_allclose(np.diagonal(F.T @ F), 1.0)  # cos² + sin²
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(60)
    assert np.all(np.abs(np.mean(draws, axis=0) - kernel(X, X)) <= 5.0 * error + 1e-12)


def test_orthogonal_frequencies_err_less() -> None:
    K = RBF(0.4)(X, X)

    def missed(orthogonal: bool) -> float:
        made = (features(RBF(0.4), 64, seed, orthogonal=orthogonal).coordinates(X)[0] for seed in range(40))
        return float(np.mean([np.square(F.T @ F - K).mean() for F in made]))

    assert missed(True) < missed(False)


def test_slopes_are_differences() -> None:
    made, x, eps = features(RBF(0.4), 20), X[0], 1e-6
    step = np.array([0.0, eps])
    up, down = made.coordinates((x + step)[None])[0][:, 0], made.coordinates((x - step)[None])[0][:, 0]
    np.testing.assert_allclose(made.slopes(x, 1)[:, 0], (up - down) / (2 * eps), atol=1e-6)


def test_saved_frequencies_go_on_and_a_tracker_says_the_same() -> None:
    made = features(RBF(0.4), 20)
    expected = made.coordinates(X)[0]
    again = features(RBF(0.4), 20, seed=9)
    again.restore(made.arrays())
    np.testing.assert_array_equal(again.coordinates(X)[0], expected)
    tracker = made.tracker()
    for stop in (2, 6):
        tracker.refresh(X[:stop])
        np.testing.assert_allclose(tracker.W, expected[:, :stop])


def test_other_kernels_have_no_known_spectrum() -> None:
    with pytest.raises(KernelError, match="RBF and Matern"):
        features(Linear())
