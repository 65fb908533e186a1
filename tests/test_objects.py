"""Objects as states: frozen copies, keys by content, JSON and back."""

import json

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmerl.errors import InputError
from cmerl.objects import ObjectTable, freeze, from_json, key, to_json

plain = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text("ab", max_size=3)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3)
        | st.frozensets(plain, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(value=values)
def test_json_gives_back_what_was_frozen(value):
    frozen = freeze(value)
    again = from_json(json.loads(json.dumps(to_json(frozen))))
    assert key(again) == key(frozen)
    assert again == frozen


def test_arrays_and_graphs_are_copied_and_locked():
    array = np.arange(6.0).reshape(2, 3)
    graph = gymnasium.spaces.GraphInstance(np.zeros((2, 1)), None, np.array([[0, 1]]))
    for value in (array, graph, {"a": [array, graph]}):
        again = from_json(json.loads(json.dumps(to_json(freeze(value)))))
        assert key(again) == key(freeze(value))
    frozen = freeze(array)
    array[0, 0] = 7.0
    assert frozen[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        frozen[0, 0] = 1.0


def test_equal_content_shares_a_number():
    table = ObjectTable(["a", (1, 2), np.zeros(2)])
    assert [table.add(x) for x in ([1, 2], np.array([0.0, -0.0]), "b", "a")] == [1, 2, 3, 0]
    again = ObjectTable.from_json(json.loads(json.dumps(table.to_json())))
    assert [again.add(x) for x in ("b", "a", np.zeros(2))] == [3, 0, 2]


def test_different_content_has_different_keys():
    different = [
        "a",
        1,
        2.5,
        None,
        (1,),
        (1, 2),
        (2, 1),
        {"a": 1},
        {"a": 2},
        {1},
        {2},
        {1, 2},
        np.zeros(2),
        np.ones(2),
    ]
    different += [np.zeros((2, 1)), ((1,), 2), (1, (2,))]
    assert len({key(freeze(x)) for x in different}) == len(different)


def test_what_has_no_plain_form_is_refused():
    with pytest.raises(InputError, match="a object cannot be a state"):
        freeze(object())
    with pytest.raises(InputError, match="not a saved object"):
        from_json({"call": ["os.system", "true"]})
    with pytest.raises(InputError, match="no number"):
        from_json({"array": ["|O", [1], ""]})
