"""Kernels through a map are the kernel at the images, by hand, whatever the map is."""

import numpy as np
import pytest

from cmerl.kernels import RBF, Columns, Delta, FeatureMap, Kernel, Linear, on
from cmerl.kernels.interned import Interned
from cmerl.objects import ObjectTable
from cmerl.spaces.resolution import Unscaled
from cmerl.spaces.structured import Flat

X = np.random.default_rng(0).random((5, 3))
RECORDS = [{"a": {"x": row[0]}, "b": row[1:]} for row in X]
WORDS = ["one", "two", "three"]
TABLE = ObjectTable()
NUMBERS = np.array([[float(TABLE.add(WORDS[i]))] for i in (0, 1, 2, 1, 0)])

CASES: dict[str, tuple[Kernel, object, Kernel, object]] = {
    "columns": (Columns(RBF(0.4), (2, 0)), X, RBF(0.4), X[:, [2, 0]]),
    "a part": (on("b", Linear()), RECORDS, Linear(), X[:, 1:]),
    "a part of a part": (on("a.x", RBF(0.4)), RECORDS, RBF(0.4), X[:, :1]),
    "features": (FeatureMap(np.square, RBF(0.4)), X, RBF(0.4), X**2),
    "unscaled": (Unscaled(RBF(3.0), (1.0, 2.0, 3.0), (2.0, 4.0, 8.0)), X, RBF(3.0), X * [2, 4, 8] + [1, 2, 3]),
    "flat": (Flat(RBF(0.4)), X.reshape(5, 3, 1), RBF(0.4), X),
    "numbers of objects": (Interned(Delta(), table=TABLE), NUMBERS, Delta(), [WORDS[i] for i in (0, 1, 2, 1, 0)]),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_kernel_at_the_images(case: str) -> None:
    kernel, points, inner, images = CASES[case]
    np.testing.assert_allclose(kernel(points), inner(images))
    np.testing.assert_allclose(kernel(points[:2], points[1:]), inner(images[:2], images[1:]))
    np.testing.assert_allclose(kernel.diag(points), inner.diag(images))
    assert (kernel.bound, kernel.nonnegative, kernel.diameter) == (inner.bound, inner.nonnegative, inner.diameter)
