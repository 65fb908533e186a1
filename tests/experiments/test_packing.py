from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import GraphInstance
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cmerl.errors import InputError
from cmerl.experiments.packing import pack, unpack

DTYPES = st.sampled_from(["<f4", "<f8", "<i4", "<i8", "|b1", "|u1", "<U3"])
ARRAYS = DTYPES.flatmap(
    lambda dtype: hnp.arrays(np.dtype(dtype), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
SCALARS = st.integers(0, 100).map(np.int64) | st.floats(width=32).map(np.float32)
TREES = st.recursive(
    PLAIN | ARRAYS | SCALARS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


def same(a: Any, b: Any) -> bool:
    """Equal in type and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_a_tree_comes_back_as_it_was(tree: Any) -> None:
    assert same(unpack(pack(tree)), tree)


@given(ARRAYS, st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_a_list_of_like_arrays_comes_back_as_a_list(array: np.ndarray[Any, Any], count: int) -> None:
    assert same(unpack(pack([array] * count)), [array] * count)


def test_arrays_that_come_back_can_be_written_to() -> None:
    (array,) = unpack(pack([np.zeros(3)]))
    array[0] = 1.0


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([object()]), lambda: None, 1j])
def test_what_is_neither_number_nor_text_is_refused_in_words(value: Any) -> None:
    with pytest.raises(InputError, match="cannot be written to a journal"):
        pack({"x": value})


def test_graphs_stay_graphs():
    graph = GraphInstance(np.array([0, 2]), np.zeros(1, dtype=np.int64), np.array([[0, 1]], dtype=np.int32))
    back = unpack(pack({"observations": [graph, "text", (1, 2)], "empty": graph._replace(edges=None)}))
    assert isinstance(back["observations"][0], GraphInstance)
    for mine, theirs in zip(back["observations"][0], graph, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype
    assert back["observations"][1:] == ["text", (1, 2)]
    assert back["empty"].edges is None
