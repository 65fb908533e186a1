"""Kernels on orders against SciPy's Kendall τ and against counting pairs."""

import itertools

import numpy as np
from scipy.stats import kendalltau

from cmerl.kernels import Kendall, Mallows

ORDERS = list(itertools.permutations(range(4)))


def test_kendall_is_scipys_tau_on_ranks():
    expected = [[kendalltau(x, y).statistic for y in ORDERS] for x in ORDERS]
    np.testing.assert_allclose(Kendall(ranks=True)(ORDERS), expected, atol=1e-12)
    np.testing.assert_allclose(Kendall(ranks=True)(np.array(ORDERS)), expected, atol=1e-12)


def test_orders_are_compared_by_the_pairs_of_items_that_they_swap():
    def swapped(x, y):
        pairs = itertools.combinations(range(4), 2)
        return sum((x.index(i) < x.index(j)) != (y.index(i) < y.index(j)) for i, j in pairs)

    expected = [[np.exp(-0.3 * swapped(x, y)) for y in ORDERS] for x in ORDERS]
    np.testing.assert_allclose(Mallows(0.3)(ORDERS), expected, rtol=1e-12)
    assert np.linalg.eigvalsh(Mallows(0.3)(ORDERS))[0] > 1e-6  # it separates all orders


def test_an_adjacent_swap_is_one_pair_and_names_do_not_matter():
    assert Kendall()([(3, 1, 2)], [(1, 3, 2)])[0, 0] == 1.0 / 3.0
    assert Kendall()([(30, 10, 20)], [(10, 30, 20)])[0, 0] == 1.0 / 3.0
    np.testing.assert_array_equal(Mallows()([(7,)], [(7,)]), [[1.0]])
