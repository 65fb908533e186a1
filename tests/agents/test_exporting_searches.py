"""Exported ends of episodes are where they were."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.agents.exporting_searches import ends_arrays
from cmerl.exported.search import ends_of
from cmerl.searching.simulator import Ends


@pytest.mark.parametrize("limited", [False, True])
def test_ends_are_where_they_were(limited: bool) -> None:
    rng = np.random.default_rng(0)
    limits = [(np.array([-1.0, np.nan]), np.array([np.nan, np.nan])), (np.full(2, np.nan), np.array([np.nan, 1.0]))]
    ended, alive = rng.uniform(-2.0, 2.0, (6, 2)), rng.uniform(-0.5, 0.5, (9, 2))
    ends = Ends(ended, rng.normal(size=6), alive, limits if limited else None)
    found = ends_of(ends_arrays(ends))
    assert found is not None
    y = rng.uniform(-3.0, 3.0, (500, 2)).astype(np.float32)
    for mine, theirs in zip(ends(y), found(y), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert 20 < ends(y)[0].sum() < 480
    for values in ends_arrays(ends).values():
        assert np.isfinite(values).all()
