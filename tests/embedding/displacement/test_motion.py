"""Transitions in the units of a model."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.embedding.displacement.motion import Motion, varies


def test_some_rows_are_a_motion_too() -> None:
    x, a = np.arange(6.0).reshape(3, 2), np.arange(3.0)[:, None]
    data = Motion(x, a, x + 1.0, np.arange(3.0), np.array([False, False, True]))
    some = data[~data.ended]
    assert len(some) == 2
    np.testing.assert_array_equal(some.z, [[0.0, 1.0, 0.0], [2.0, 3.0, 1.0]])
    np.testing.assert_array_equal(some.y - some.x, 1.0)
    np.testing.assert_array_equal(data[np.array([2])].r, [2.0])


@pytest.mark.parametrize(("spread", "size", "expected"), [(1e-12, 1.0, False), (1e-6, 1.0, True), (1e-3, 1e7, False)])
def test_numbers_vary_if_they_differ_by_more_than_rounding(spread: float, size: float, *, expected: bool) -> None:
    assert varies(spread, size) is expected
