"""Counts of what followed, with rewards counted together only where they are close."""

import numpy as np
import pytest

from cmerl.errors import InputError
from cmerl.finite import Counts, FiniteWorld


def test_counts_are_those_of_a_loop_and_survive_saving():
    rng = np.random.default_rng(0)
    world = FiniteWorld(4, 2, 5, -1.0, 3.0, ends=True)
    counts, seen = Counts(world), np.zeros((8, 5))
    for _ in range(300):
        s, a, n = rng.integers(4), rng.integers(2), rng.integers(4)
        ended = bool(rng.random() < 0.1)
        counts.add(int(rng.integers(5)), int(s), int(a), float(rng.choice([-1.0, 0.3, 2.0])), int(n), ended=ended)
        seen[s * 2 + a, 4 if ended else n] += 1
    again = Counts.from_arrays(world, counts.arrays())
    for found in (counts, again, counts.copy()):
        table = np.zeros((8, 5))
        rows, columns = np.nonzero(found.outcomes.n)
        table[rows, found.outcomes.key[rows, columns]] = found.outcomes.n[rows, columns]
        np.testing.assert_array_equal(table, seen)
        np.testing.assert_array_equal(found.visits, seen.sum(axis=1))
        np.testing.assert_allclose(np.unique(found.paid.low[found.paid.n > 0]), [0.0, 1.3, 3.0])
    frozen = counts.copy()
    counts.add(0, 0, 0, 0.0, 0, ended=False)
    again.add(0, 0, 0, 0.0, 0, ended=False)
    assert frozen.visits.sum() == counts.visits.sum() - 1 == again.visits.sum() - 1


def test_close_rewards_are_counted_together_by_their_extremes():
    world = FiniteWorld(1, 1, 2, 0.0, 1.0, reward_bins=4)
    counts = Counts(world)
    for r in (0.26, 0.3, 0.49, 0.51, 1.0):
        counts.add(0, 0, 0, r, 0, ended=False)
    seen = counts.paid.n > 0
    np.testing.assert_allclose(counts.paid.low[seen], [0.26, 0.51, 1.0])
    np.testing.assert_allclose(counts.paid.high[seen], [0.49, 0.51, 1.0])


def test_an_end_where_none_can_be_is_an_error():
    with pytest.raises(InputError, match="terminated early"):
        Counts(FiniteWorld(1, 1, 2, 0.0, 1.0)).add(0, 0, 0, 0.0, 0, ended=True)
