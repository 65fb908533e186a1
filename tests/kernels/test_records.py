"""Kernels on the parts of records."""

import numpy as np
import pytest

from cmerl.errors import InputError, KernelError
from cmerl.kernels import RBF, Categorical, Delta, Periodic, Spectrum, mixed, on

RECORDS = [
    {"stock": 3.0, "weekday": 1, "name": "ab", "pose": {"v": np.array([1.0, 2.0])}},
    {"stock": 4.0, "weekday": 5, "name": "abb", "pose": {"v": np.array([0.0, 2.0])}},
]


def test_each_part_is_seen_by_its_own_kernel():
    kernel = on("stock", RBF(2.0)) * on("weekday", Periodic(7.0, 1.0))
    stock, weekday = np.array([[3.0], [4.0]]), np.array([[1.0], [5.0]])
    np.testing.assert_allclose(kernel(RECORDS), RBF(2.0)(stock) * Periodic(7.0, 1.0)(weekday))
    np.testing.assert_allclose(kernel.diag(RECORDS), 1.0)
    np.testing.assert_allclose(on("pose.v", RBF(1.0))(RECORDS), RBF(1.0)(np.array([[1.0, 2.0], [0.0, 2.0]])))


def test_tuples_are_records_by_position():
    pairs = [("ab", 1.0), ("b", 2.0)]
    np.testing.assert_array_equal(on(0, Spectrum(1))(pairs), Spectrum(1)(["ab", "b"]))
    np.testing.assert_array_equal(on("1", RBF(1.0))(pairs), RBF(1.0)([[1.0], [2.0]]))


def test_mixed_is_the_mean_of_its_parts():
    kernel = mixed(stock=RBF(2.0), name=Spectrum(1), weekday=Delta())
    parts = [on("stock", RBF(2.0)), on("name", Spectrum(1)), on("weekday", Delta())]
    np.testing.assert_allclose(kernel(RECORDS), sum(k(RECORDS) for k in parts) / 3)
    np.testing.assert_allclose(kernel.diag(RECORDS), 1.0)


def test_categories_have_the_likeness_of_their_table():
    table = ((1.0, 0.8, 0.0), (0.8, 1.0, 0.0), (0.0, 0.0, 1.0))
    kernel = Categorical(("red", "orange", "blue"), table)
    np.testing.assert_array_equal(kernel(["blue", "red"], ["orange", "blue"]), [[0.0, 1.0], [0.8, 0.0]])
    with pytest.raises(KernelError, match="positive semi-definite"):
        Categorical(("a", "b"), ((1.0, 2.0), (2.0, 1.0)))
    with pytest.raises(KernelError, match="square matrix"):
        Categorical(("a", "b"), ((1.0,),))


def test_a_missing_part_is_named_with_its_record():
    with pytest.raises(InputError, match=r"record 1 has no part 'pose\.w'"):
        on("pose.w", RBF())([{"pose": {"w": 1.0}}, RECORDS[0]])
