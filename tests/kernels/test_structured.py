"""Facts that hold for every kernel on objects: symmetry, positive semi-definiteness, diagonal, B and D, saving."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.kernels import (
    RBF,
    Categorical,
    Delta,
    Gaussian,
    GlobalAlignment,
    Graph,
    Intersection,
    Jaccard,
    Kendall,
    Mallows,
    MeanMap,
    MinMax,
    Mismatch,
    Normalized,
    ShortestPath,
    Spectrum,
    WeightedDegree,
    WeisfeilerLehman,
    from_spec,
    on,
)
from cmerl.kernels.structured import as_sequence

strings = st.text("abc", max_size=7)
sets = st.frozensets(st.integers(0, 5), max_size=5)
bags = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 4).map(float))
orders = st.permutations(range(5)).map(tuple)
clouds = st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=1, max_size=4).map(tuple)


@st.composite
def graphs(draw):
    labels = draw(st.lists(st.sampled_from("CNO"), min_size=1, max_size=5))
    ends = st.integers(0, len(labels) - 1)
    return Graph.of(labels, draw(st.lists(st.tuples(ends, ends, st.sampled_from([1, 2])), max_size=6)))


records = st.fixed_dictionaries({"name": strings, "items": sets, "size": st.floats(-3, 3), "order": orders})
CASES = [
    (Spectrum(2), strings),
    (Spectrum(3, blended=True), strings),
    (Spectrum(2, normalized=False), strings),
    (Mismatch("abc", 2, 1), strings),
    (WeightedDegree(3), strings),
    (GlobalAlignment(0.4), strings),
    (GlobalAlignment(local=RBF(0.7)), clouds),
    (Intersection(), sets),
    (Intersection(normalized=False), sets),
    (Jaccard(), sets),
    (MinMax(), bags),
    (MeanMap(RBF(0.5)), clouds),
    (WeisfeilerLehman(2), graphs()),
    (WeisfeilerLehman(2, labels=False), graphs()),
    (ShortestPath(), graphs()),
    (Kendall(), orders),
    (Mallows(0.3), orders),
    (Kendall(ranks=True), orders),
    (Categorical(("a", "b"), ((1.0, 0.5), (0.5, 2.0))), st.sampled_from("ab")),
    (Gaussian(Spectrum(2), 0.7), strings),
    (Normalized(1.0 + Spectrum(2)), strings),
    (on("name", Spectrum(2)) * on("size", RBF(0.8)) + on("items", Jaccard()), records),
    (0.5 * on("order", Mallows(0.2)) + 0.1, records),
]
cases = pytest.mark.parametrize(("kernel", "objects"), CASES, ids=lambda x: repr(x)[:60])
examples = settings(max_examples=15, deadline=None)


@cases
@examples
@given(data=st.data())
def test_gram_is_symmetric_and_positive_semidefinite(kernel, objects, data):
    X = data.draw(st.lists(objects, min_size=1, max_size=8))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-12 * len(X) * max(eigenvalues[-1], 1.0)


@cases
@examples
@given(data=st.data())
def test_blocks_diagonal_bound_and_diameter_agree(kernel, objects, data):
    X, Y = (data.draw(st.lists(objects, min_size=1, max_size=5)) for _ in range(2))
    K, diagonal = kernel(X + Y), kernel.diag(X + Y)
    np.testing.assert_allclose(diagonal, np.diag(K), atol=1e-12)
    np.testing.assert_allclose(kernel(X, Y), K[: len(X), len(X) :], rtol=1e-11, atol=1e-12)
    assert np.sqrt(diagonal.max()) <= kernel.bound * (1.0 + 1e-12)
    assert (np.add.outer(diagonal, diagonal) - 2.0 * K).max() <= kernel.diameter**2 * (1.0 + 1e-12) + 1e-12
    if kernel.nonnegative:
        assert K.min() >= 0.0


@cases
def test_no_objects_and_saving(kernel, objects):
    assert from_spec(json.loads(json.dumps(kernel.spec()))) == kernel
    if not isinstance(kernel, Gaussian | Normalized) and type(kernel).__name__ != "Sum":
        assert kernel([]).shape == (0, 0)
        assert kernel.diag([]).shape == (0,)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Spectrum(2), ["ab", 7, "c"], "Spectrum cannot read object 1: a int is neither a string"),
        (Spectrum(2, alphabet="ab"), ["ab", "abca"], "object 1: symbol 2, 'c', is not in the alphabet"),
        (Mismatch("ab", 2), ["xa"], "object 0: symbol 0, 'x'"),
        (GlobalAlignment(local=RBF()), [((0.0,),), ((0.0,), (np.nan,))], "object 1: element 1 is NaN"),
        (GlobalAlignment(local=RBF()), ["abc"], "object 0: it is not a sequence of vectors"),
        (Jaccard(), [{1}, "ab"], "object 1: a str is not a set"),
        (MinMax(), [{"x": 1.0}, {"x": -1.0}], "object 1: the count of 'x'"),
        (MeanMap(), [[1], []], "object 1: it is empty"),
        (WeisfeilerLehman(), [Graph(("C",)), Graph(())], "object 1: it is an empty graph"),
        (WeisfeilerLehman(), [((0, 1), ((0, 2),))], "object 0: edge 0 names node 2"),
        (ShortestPath(), ["CC"], "object 0: a str is not a graph"),
        (Kendall(), [(0, 1, 1)], "object 0: an order has every item once"),
        (Mallows(), [(0, 1), (0, 1, 2)], r"orders must have one length, but have \[2, 3\] items"),
        (Categorical(("a",), ((1.0,),)), ["a", "b"], "object 1: 'b' is not one of the categories 'a'"),
        (on("size", RBF()), [{"size": 1.0}, {"weight": 1.0}], "record 1 has no part 'size'"),
    ],
)
def test_a_bad_object_is_named_by_its_position(kernel, X, message):
    with pytest.raises(InputError, match=message):
        kernel(X)


def test_symbols_that_are_arrays_are_known_by_their_content():
    x = as_sequence([np.array([1.0, 2.0]), {"a": 1}, np.int64(3)])
    assert x == as_sequence([np.array([1, 2]), {"a": 1}, 3])
    assert x != as_sequence([np.array([1.0, 2.5]), {"a": 1}, 3])
    assert Spectrum(1)([[np.zeros(2)]], [[np.zeros(2)]])[0, 0] == 1.0


def test_delta_composes_with_objects():
    K = (Delta() * Spectrum(1) + 1.0)(["ab", "ba", "ab"])
    np.testing.assert_array_equal(K, [[2.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 1.0, 2.0]])
