"""Kernels from kernels: cosines, Gaussians of feature distances, and features by a user's function."""

import numpy as np
import pytest

from cmerl.errors import KernelError
from cmerl.kernels import RBF, FeatureMap, Gaussian, Linear, Normalized, Spectrum

X = np.random.default_rng(0).normal(size=(6, 3))


def test_gaussian_of_the_linear_kernel_is_rbf():
    np.testing.assert_allclose(Gaussian(Linear(), 0.8)(X), RBF(0.8)(X), rtol=1e-10)
    np.testing.assert_allclose(Gaussian(Linear(), 0.8)(X[:2], X), RBF(0.8)(X[:2], X), rtol=1e-10)


def test_normalized_linear_is_the_cosine():
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(Normalized(Linear())(X), unit @ unit.T, atol=1e-12)
    with pytest.raises(KernelError, match="point 1 has none"):
        Normalized(Linear())(np.array([[1.0], [0.0]]))


def test_a_feature_map_reads_pictures():
    pictures = [np.full((4, 4), value, dtype=np.uint8) for value in (0, 10, 200)]
    kernel = FeatureMap(lambda images: [[image.mean() / 255.0] for image in images], RBF(0.5))
    means = np.array([[0.0], [10.0], [200.0]]) / 255.0
    np.testing.assert_allclose(kernel(pictures), RBF(0.5)(means))
    np.testing.assert_allclose((kernel * kernel)(pictures, pictures[:1]), RBF(0.5)(means, means[:1]) ** 2)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: [1.0] * len(x), "returned shape"),
        (lambda x: [[1.0]] * (len(x) + 1), "returned shape"),
        (lambda x: [[0.0], [np.nan], [0.0]], "for object 1"),
    ],
)
def test_a_bad_feature_map_is_refused(function, message):
    with pytest.raises(KernelError, match=message):
        FeatureMap(function)(["a", "b", "c"])
    with pytest.raises(KernelError, match="cannot be saved"):
        FeatureMap(function).spec()


def test_gaussian_makes_a_string_kernel_strictly_definite():
    words = ["ab", "ba", "aab", "b"]
    assert np.linalg.eigvalsh(Gaussian(Spectrum(2, blended=True), 0.5)(words))[0] > 1e-3
