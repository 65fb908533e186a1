"""Kernels on sets and bags against the definitions, item by item."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.kernels import RBF, Delta, Intersection, Jaccard, MeanMap, MinMax

sets = st.frozensets(st.integers(0, 6))
examples = settings(max_examples=40, deadline=None)


@examples
@given(x=sets, y=sets)
def test_sets_by_their_definitions(x, y):
    common = len(x & y)
    assert Intersection(normalized=False)([x], [y])[0, 0] == common
    expected = len(x & y) / len(x | y) if x | y else 1.0
    np.testing.assert_allclose(Jaccard()([x], [y]), [[expected]])
    if x and y:
        np.testing.assert_allclose(Intersection()([x], [y]), [[common / np.sqrt(len(x) * len(y))]])


@examples
@given(x=st.lists(st.sampled_from("abc"), max_size=6), y=st.lists(st.sampled_from("abc"), max_size=6))
def test_bags_by_their_definition(x, y):
    least = sum(min(x.count(i), y.count(i)) for i in "abc")
    most = sum(max(x.count(i), y.count(i)) for i in "abc")
    np.testing.assert_allclose(MinMax()([x], [y]), [[least / most if most else 1.0]])
    counts = [{i: v.count(i) for i in v} for v in (x, y)]
    np.testing.assert_array_equal(MinMax()(counts[:1], counts[1:]), MinMax()([x], [y]))


def test_minmax_of_sets_is_jaccard():
    X = [{1, 2}, {2, 3, 4}, set(), {5}]
    np.testing.assert_allclose(MinMax()(X), Jaccard()(X))


def test_mean_map_is_the_mean_over_pairs():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(n, 3)) for n in (1, 4, 2)]
    expected = [[RBF(0.8)(x, y).mean() for y in X] for x in X]
    np.testing.assert_allclose(MeanMap(RBF(0.8))(X), expected, rtol=1e-12)
    np.testing.assert_allclose(MeanMap(Delta())([["a", "b"], ["a"]]), [[0.5, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize("kernel", [Jaccard(), Intersection(), MinMax()])
def test_rows_of_arrays_are_read_as_items(kernel):
    np.testing.assert_array_equal(kernel([np.array([1, 2])], [(2, 1)]), [[1.0]])
