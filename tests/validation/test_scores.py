"""Checks of scores: shapes, pairs, levels and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.validation.scores import count, finite, level, pairs, strata


@pytest.mark.parametrize(
    ("values", "ndim", "sentence"),
    [
        ([], 1, r"scores must have shape \(n,\) with at least one entry, not \(0,\)"),
        ([[1.0]], 1, r"shape \(n,\)"),
        ([1.0], 2, r"shape \(seeds, episodes\)"),
        (np.zeros((3, 0)), 2, "at least one entry"),
        ([1.0, np.nan], 1, "finite"),
        ([[1.0, -np.inf]], 2, "finite"),
    ],
)
def test_what_are_no_scores_is_refused(values: Any, ndim: int, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        finite("scores", values, ndim=ndim)


def test_scores_become_arrays_of_floats() -> None:
    found = finite("scores", [[1, 2], [3, 4]], ndim=2)
    assert (found.dtype, found.tolist()) == (np.float64, [[1.0, 2.0], [3.0, 4.0]])


def test_environments_have_names_or_numbers() -> None:
    assert list(strata("a", {"chain": [1.0], "river": [2.0]})) == ["chain", "river"]
    assert {name: x.tolist() for name, x in strata("a", [[1.0], [2.0, 3.0]]).items()} == {"0": [1.0], "1": [2.0, 3.0]}
    with pytest.raises(InputError, match="at least one environment"):
        strata("a", {})
    with pytest.raises(InputError, match=r"a\['river'\] must be finite"):
        strata("a", {"chain": [1.0], "river": [np.nan]})


def test_pairs_are_differences_on_the_same_seeds() -> None:
    assert pairs([3.0, 1.0], [1.0, 4.0]).tolist() == [2.0, -3.0]
    with pytest.raises(InputError, match="same seeds, not 2 and 3"):
        pairs([1.0, 2.0], [1.0, 2.0, 3.0])


def test_levels_lie_inside_the_unit_interval_and_counts_begin_at_one() -> None:
    assert (level(0.95), count("resamples", 1)) == (0.95, 1)
    for wrong in (0.0, 1.0, np.nan):
        with pytest.raises(InputError, match="level must lie"):
            level(wrong)
    with pytest.raises(InputError, match="resamples must be at least 1, not 0"):
        count("resamples", 0)
