"""A kernel of some columns only."""

import numpy as np
import pytest

from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, Columns, Delta, from_spec


def test_other_columns_do_not_matter():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 4)), rng.normal(size=(3, 4))
    k = Columns(RBF((0.5, 2.0)), (2, 0))
    np.testing.assert_allclose(k(X, Y), RBF((0.5, 2.0))(X[:, [2, 0]], Y[:, [2, 0]]))
    X[:, [1, 3]] += 9.0
    np.testing.assert_allclose(k(X, Y), RBF((2.0, 0.5))(X[:, [0, 2]], Y[:, [0, 2]]))


def test_a_part_each_has_its_own_kernel_and_can_be_saved():
    k = Columns(RBF(0.5), (0,)) * Columns(Delta(), (1,))
    np.testing.assert_allclose(k([[0.0, 1.0]], [[0.5, 1.0], [0.0, 2.0]]), [[np.exp(-0.5), 0.0]])
    assert from_spec(k.spec()) == k


@pytest.mark.parametrize("columns", [(), (-1,), (0.5,)])
def test_columns_that_are_none_are_refused(columns):
    with pytest.raises(KernelError, match="columns"):
        Columns(RBF(), columns)


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="column 3"):
        Columns(RBF(), (0, 3))(np.zeros((2, 2)))
