"""Objects as numbers: the same values as on the objects, each computed once, and found again after saving."""

import json

import numpy as np
import pytest

from cmerl.errors import KernelError
from cmerl.kernels import CallableKernel, Columns, Interned, Spectrum, from_spec, interned
from cmerl.kernels.interned import bind, table_from_spec, table_spec
from cmerl.objects import ObjectTable

WORDS = ["abab", "ba", "bbb", "a", "abb"]


def rows(*numbers):
    return np.array(numbers, dtype=float)[:, None]


def test_values_are_those_of_the_objects():
    kernel = Interned(Spectrum(2), "", ObjectTable(WORDS))
    np.testing.assert_array_equal(kernel(rows(0, 1, 4)), Spectrum(2)([WORDS[0], WORDS[1], WORDS[4]]))
    np.testing.assert_array_equal(kernel(rows(3, 3), rows(0, 2)), Spectrum(2)(["a", "a"], ["abab", "bbb"]))
    np.testing.assert_array_equal(kernel.diag(rows(3, 0, 3)), Spectrum(2).diag(["a", "abab", "a"]))


def test_each_value_is_computed_once(monkeypatch):
    asked = []

    def count(X, Y):
        asked.append(len(X) * len(Y))
        return Spectrum(1)(X, Y)

    table = ObjectTable(WORDS[:3])
    kernel = Interned(CallableKernel(count), "", table)
    first = kernel(rows(0, 1, 2))
    assert sum(asked) == 9
    kernel(rows(2, 1, 0, 1), rows(0, 1))
    assert sum(asked) == 9
    table.add("abb")
    again = kernel(rows(0, 1, 2, 3))
    assert sum(asked) == 9 + 3 + 1  # the new one with the old ones, and with itself
    np.testing.assert_array_equal(again[:3, :3], first)
    np.testing.assert_array_equal(again, Spectrum(1)([*WORDS[:3], "abb"]))
    # beyond the limit nothing is kept, and values are the same
    monkeypatch.setattr(interned, "LIMIT", 2)
    np.testing.assert_array_equal(
        Interned(Spectrum(1), "", ObjectTable(WORDS))(rows(0, 3)), Spectrum(1)(["abab", "a"])
    )


def test_what_was_saved_has_the_same_bits():
    rng = np.random.default_rng(0)
    table = ObjectTable()
    kernel = Columns(Interned(Spectrum(2, blended=True), "word", table), (1,))
    for _ in range(5):
        for _ in range(3):
            table.add("".join(rng.choice(list("abc"), 6)))
        X = np.column_stack([np.zeros(len(table)), np.arange(len(table))])
        K = kernel(X)
    again = table_from_spec(json.loads(json.dumps(table_spec(table))))
    loaded = bind(from_spec(json.loads(json.dumps(kernel.spec()))), {"word": again})
    assert loaded == kernel
    assert loaded.kernel.gram.sizes == [3, 6, 9, 12, 15]
    np.testing.assert_array_equal(loaded(X), K)


def test_a_kernel_without_its_objects_says_so():
    with pytest.raises(KernelError, match="lost its objects of part 'word'"):
        Interned(Spectrum(2), "word")(rows(0))
